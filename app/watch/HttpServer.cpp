//===- HttpServer.cpp - answers browsers of this machine ------------------===//

#include "app/watch/HttpServer.h"
#include "runtime/data/OpenFile.h"
#include "llvm/ADT/STLExtras.h"

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <fmt/format.h>
#include <map>
#include <mutex>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace fovea::cli;
using fovea::runtime::Status;
using fovea::runtime::throughSignals;
using llvm::StringRef;
using Clock = std::chrono::steady_clock;

static constexpr size_t longestHead = 8192, mostConnections = 64;
static constexpr int numWorkers = 2;

/// The time limits for a client's request and for reading the answer.
static constexpr auto askingTime = std::chrono::seconds(3),
                      readingTime = std::chrono::seconds(20);

//===----------------------------------------------------------------------===//
// Connections
//===----------------------------------------------------------------------===//

namespace {

struct Connection {
  enum Phase { Asking, Waiting, Reading, Gone };

  uint64_t id = 0;
  int socket = -1;
  Phase phase = Asking;
  Clock::time_point deadline;
  std::string received, answer;
  size_t numSent = 0;

  short events() const {
    return phase == Asking ? POLLIN : phase == Reading ? POLLOUT : 0;
  }
};

struct Route {
  HttpServer::Handler handler;
  bool isSlow = false;
};

/// A request that a worker answers.
struct Job {
  uint64_t id = 0; // of the connection
  const Route *route = nullptr;
  HttpRequest request;
};

} // namespace

struct HttpServer::Impl {
  int listener = -1, wakeUp = -1, port = 0;
  std::map<std::string, Route> routes;
  std::vector<Connection> connections; // oldest first
  uint64_t lastId = 0;

  std::mutex mutex; // of what follows
  std::condition_variable hasJobs;
  std::deque<Job> jobs;
  std::vector<std::pair<uint64_t, std::string>> answers;

  Status open(int wanted);
  [[noreturn]] void work();
  void accept();
  void receive(Connection &connection);
  void answer(Connection &connection);
  void begin(Connection &connection, std::string text);
  void send(Connection &connection);
  void takeAnswers();
  void dropGone();
  int patience() const;
};

HttpServer::HttpServer() : impl(new Impl) {}

HttpServer::~HttpServer() {
  for (int file : {impl->listener, impl->wakeUp})
    if (file >= 0)
      close(file);
}

/// Without SO_REUSEPORT, so a port in use is an error.
Status HttpServer::Impl::open(int wanted) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(uint16_t(wanted));
  auto *general = reinterpret_cast<sockaddr *>(&address);
  socklen_t size = sizeof(address);
  int yes = 1;
  wakeUp = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  bool isOpen =
      wakeUp >= 0 && listener >= 0 &&
      setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) == 0 &&
      bind(listener, general, size) == 0 &&
      ::listen(listener, SOMAXCONN) == 0 &&
      getsockname(listener, general, &size) == 0;
  port = ntohs(address.sin_port);
  if (isOpen)
    return Status::success();
  return Status::machine(
      fmt::format("cannot serve on port {} of 127.0.0.1: {}", wanted,
                  errno == EADDRINUSE ? "it is in use" : std::strerror(errno)));
}

/// Answers slow requests, one at a time.
void HttpServer::Impl::work() {
  while (true) {
    std::unique_lock lock(mutex);
    hasJobs.wait(lock, [&] { return !jobs.empty(); });
    Job job = std::move(jobs.front());
    jobs.pop_front();
    lock.unlock();
    std::string text =
        textOf(job.route->handler(job.request), job.request.isHead);
    lock.lock();
    answers.push_back({job.id, std::move(text)});
    lock.unlock();
    uint64_t one = 1;
    [[maybe_unused]] ssize_t count =
        throughSignals([&] { return write(wakeUp, &one, sizeof(one)); });
  }
}

/// Accepts a new client. If all places are taken, drops the client that has
/// been slow for the longest time.
void HttpServer::Impl::accept() {
  int socket =
      accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  bool hasNoFile = socket < 0 && (errno == EMFILE || errno == ENFILE);
  if (hasNoFile || connections.size() >= mostConnections) {
    auto oldest = llvm::find_if(connections, [](const Connection &connection) {
      return connection.phase != Connection::Waiting;
    });
    if (oldest != connections.end())
      oldest->phase = Connection::Gone;
    dropGone();
  }
  if (socket < 0)
    return;
  if (connections.size() >= mostConnections) {
    close(socket);
    return;
  }
  Connection &connection = connections.emplace_back();
  connection.id = ++lastId;
  connection.socket = socket;
  connection.deadline = Clock::now() + askingTime;
}

void HttpServer::Impl::receive(Connection &connection) {
  char bytes[longestHead];
  std::string &received = connection.received;
  ssize_t count =
      recv(connection.socket, bytes, longestHead - received.size(), 0);
  if (count < 0 && (errno == EAGAIN || errno == EINTR))
    return;
  if (count <= 0) {
    connection.phase = Connection::Gone;
    return;
  }
  received.append(bytes, count);
  if (StringRef(received).contains("\r\n\r\n"))
    answer(connection);
  else if (received.size() == longestHead)
    begin(connection, textOf(refusal(431, "this header is too long"), false));
}

void HttpServer::Impl::answer(Connection &connection) {
  HttpRequest request;
  std::optional<HttpResponse> refused = parseHead(
      StringRef(connection.received).split("\r\n\r\n").first, request);
  if (!refused)
    refused = checkHead(request, port);
  auto route = routes.find(request.path);
  if (!refused && route == routes.end())
    refused = refusal(404, "there is no such page");
  if (refused || !route->second.isSlow) {
    HttpResponse response = refused ? *refused : route->second.handler(request);
    begin(connection, textOf(response, request.isHead));
    return;
  }
  connection.phase = Connection::Waiting;
  std::lock_guard guard(mutex);
  jobs.push_back({connection.id, &route->second, std::move(request)});
  hasJobs.notify_one();
}

void HttpServer::Impl::begin(Connection &connection, std::string text) {
  connection.answer = std::move(text);
  connection.phase = Connection::Reading;
  connection.deadline = Clock::now() + readingTime;
  send(connection);
}

void HttpServer::Impl::send(Connection &connection) {
  StringRef left = StringRef(connection.answer).drop_front(connection.numSent);
  ssize_t count =
      ::send(connection.socket, left.data(), left.size(), MSG_NOSIGNAL);
  if (count < 0 && (errno == EAGAIN || errno == EINTR))
    return;
  connection.numSent += std::max<ssize_t>(count, 0);
  if (count < 0 || connection.numSent == connection.answer.size())
    connection.phase = Connection::Gone;
}

void HttpServer::Impl::takeAnswers() {
  uint64_t number = 0;
  [[maybe_unused]] ssize_t count = read(wakeUp, &number, sizeof(number));
  std::unique_lock lock(mutex);
  auto done = std::exchange(answers, {});
  lock.unlock();
  for (auto &[id, text] : done)
    for (Connection &connection : connections)
      if (connection.id == id)
        begin(connection, std::move(text));
}

/// Closes finished connections, and drops their pending work.
void HttpServer::Impl::dropGone() {
  Clock::time_point now = Clock::now();
  std::lock_guard guard(mutex);
  llvm::erase_if(connections, [&](const Connection &connection) {
    bool isLate =
        connection.phase != Connection::Waiting && connection.deadline <= now;
    if (connection.phase != Connection::Gone && !isLate)
      return false;
    llvm::erase_if(jobs,
                   [&](const Job &job) { return job.id == connection.id; });
    shutdown(connection.socket, SHUT_WR);
    close(connection.socket);
    return true;
  });
}

/// The milliseconds until the next deadline; -1 if there is none.
int HttpServer::Impl::patience() const {
  int result = -1;
  for (const Connection &connection : connections) {
    if (connection.phase == Connection::Waiting)
      continue;
    auto left = std::chrono::ceil<std::chrono::milliseconds>(
        connection.deadline - Clock::now());
    int number = std::max(0, int(left.count()));
    result = result < 0 ? number : std::min(result, number);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// The server
//===----------------------------------------------------------------------===//

Status HttpServer::listen(int port, std::unique_ptr<HttpServer> &result) {
  result.reset(new HttpServer);
  return result->impl->open(port);
}

std::string HttpServer::address() const {
  return fmt::format("http://127.0.0.1:{}/", impl->port);
}

void HttpServer::add(const std::string &path, Handler handler) {
  impl->routes[path] = {std::move(handler), false};
}

void HttpServer::addSlow(const std::string &path, Handler handler) {
  impl->routes[path] = {std::move(handler), true};
}

/// A thread that does not start throws in C++, and our code has no exceptions.
Status HttpServer::start() {
  auto work = [](void *impl) -> void * { static_cast<Impl *>(impl)->work(); };
  for (int i = 0; i < numWorkers; ++i) {
    pthread_t worker;
    int error = pthread_create(&worker, nullptr, work, impl.get());
    if (error != 0 && i == 0)
      return Status::machine(fmt::format(
          "cannot start a thread for the page: {}", std::strerror(error)));
    if (error == 0)
      pthread_detach(worker);
  }
  return Status::success();
}

void HttpServer::serve() {
  std::vector<pollfd> polled;
  while (true) {
    impl->dropGone();
    polled = {{impl->listener, POLLIN, 0}, {impl->wakeUp, POLLIN, 0}};
    for (const Connection &connection : impl->connections)
      polled.push_back({connection.socket, connection.events(), 0});
    if (poll(polled.data(), polled.size(), impl->patience()) <= 0)
      continue;
    for (size_t i = 0; i < impl->connections.size(); ++i) {
      Connection &connection = impl->connections[i];
      short events = polled[i + 2].revents;
      if (events & POLLIN)
        impl->receive(connection);
      else if (events & POLLOUT)
        impl->send(connection);
      else if (events != 0) // the client has gone
        connection.phase = Connection::Gone;
    }
    if (polled[1].revents != 0)
      impl->takeAnswers();
    if (polled[0].revents != 0)
      impl->accept();
  }
}
