// Files as a model takes them: PNG of its size, WAV of its rate.

const bytesOf = async (blob) => new Uint8Array(await blob.arrayBuffer());

const beginsWith = (bytes, text) => [...text].every((letter, i) => bytes[i] === letter.charCodeAt(0));

// A file that fits keeps its bytes, so the page answers as the program does.
async function pictureOf(blob, { rows, columns }) {
  const picture = await createImageBitmap(blob), bytes = await bytesOf(blob);
  const width = columns ?? picture.width, height = rows ?? picture.height;
  const isSmall = beginsWith(bytes, '\x89PNG') && bytes[24] <= 8;  // bits per channel
  if (isSmall && width === picture.width && height === picture.height) return bytes;
  const canvas = Object.assign(document.createElement('canvas'), { width, height });
  canvas.getContext('2d').drawImage(picture, 0, 0, width, height);
  return bytesOf(await new Promise((done) => canvas.toBlob(done, 'image/png')));
}

// One channel of 32-bit numbers.
function wavOf(samples, rate) {
  const view = new DataView(new ArrayBuffer(44 + 4 * samples.length));
  const text = (at, word) => [...word].forEach((letter, i) => view.setUint8(at + i, letter.charCodeAt(0)));
  text(0, 'RIFF');
  view.setUint32(4, 36 + 4 * samples.length, true);
  text(8, 'WAVEfmt ');
  view.setUint32(16, 16, true);
  view.setUint16(20, 3, true);  // floating point
  view.setUint16(22, 1, true);
  view.setUint32(24, rate, true);
  view.setUint32(28, 4 * rate, true);
  view.setUint16(32, 4, true);
  view.setUint16(34, 32, true);
  text(36, 'data');
  view.setUint32(40, 4 * samples.length, true);
  samples.forEach((sample, i) => view.setFloat32(44 + 4 * i, sample, true));
  return new Uint8Array(view.buffer);
}

// The rate of a WAV file; 0: it is another file.
function rateOf(bytes) {
  const isWave = bytes.length > 28 && beginsWith(bytes, 'RIFF') && beginsWith(bytes.subarray(8), 'WAVEfmt ');
  return isWave ? new DataView(bytes.buffer, bytes.byteOffset).getUint32(24, true) : 0;
}

// The browser reads other files, and changes their rate.
async function soundOf(blob, { rate }) {
  const bytes = await bytesOf(blob);
  if (rateOf(bytes) === rate) return bytes;
  const sound = await new OfflineAudioContext(1, 1, rate).decodeAudioData(bytes.buffer);
  const samples = new Float32Array(sound.length);
  for (let channel = 0; channel < sound.numberOfChannels; ++channel)
    sound.getChannelData(channel).forEach((sample, i) => { samples[i] += sample / sound.numberOfChannels; });
  return wavOf(samples, rate);
}

// Records until the function that it promises is called; then `take` gets the sound.
async function recordSound(take) {
  const stream = await navigator.mediaDevices.getUserMedia({ audio: true });
  const recorder = new MediaRecorder(stream), parts = [];
  recorder.ondataavailable = ({ data }) => parts.push(data);
  recorder.onstop = () => {
    for (const track of stream.getTracks()) track.stop();
    take(new Blob(parts, { type: recorder.mimeType }));
  };
  recorder.start();
  return () => recorder.stop();
}
