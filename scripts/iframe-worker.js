// Search in a page that is opened as a file. Browsers start no worker from file://, so a
// hidden frame runs its script. MkDocs Material looks for `IFrameWorker` by this name.
if (location.protocol === "file:") {
  window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.window = frame.contentWindow;
      window.addEventListener("message", event => {
        if (event.source === this.window)
          this.dispatchEvent(new MessageEvent("message", { data: event.data }));
      });
      // A window posts to itself by default; a worker posts to its page.
      this.window.postMessage = data => window.dispatchEvent(
        new MessageEvent("message", { data, source: this.window }));
      this.window.importScripts = (...urls) => urls.reduce(
        (before, next) => before.then(() => this.load(next)), Promise.resolve());
      this.ready = this.load(url);
    }

    load(url) {
      return new Promise((resolve, reject) => {
        const script = this.window.document.createElement("script");
        script.src = url;
        script.onload = resolve;
        script.onerror = () => reject(new Error(`cannot load ${url}`));
        this.window.document.body.append(script);
      });
    }

    postMessage(data) {
      this.ready.then(() => this.window.dispatchEvent(new MessageEvent("message", { data })));
    }
  };
  window.Worker = window.IFrameWorker;
}
