//===- MpiTeam.cpp - processes that talk by MPI ---------------------------===//

#include "app/machines/MpiTeam.h"
#include "app/Arguments.h"
#include "app/machines/Installed.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/uio.h>
#include <unistd.h>

using namespace fovea;
using namespace fovea::cli;
using runtime::Parts;
using runtime::Status;

//===----------------------------------------------------------------------===//
// Beginning and end
//===----------------------------------------------------------------------===//

/// Open MPI reads the memory of other local processes. Some containers
/// forbid that, with a warning per message; this setting makes it copy
/// instead.
static void copyWhereNobodyReads() {
  char from = 0, to = 0;
  iovec source = {&from, 1}, target = {&to, 1};
  if (process_vm_readv(getpid(), &target, 1, &source, 1, 0) != 1)
    setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none",
           /*overwrite=*/0);
}

Status MpiTeam::start(const Launch &launch, std::unique_ptr<MpiTeam> &team) {
  std::optional<std::string> path =
      findInstalled("libfovea_" + launch.library + ".so");
  if (!path)
    return Status::machine(fmt::format(
        "'libfovea_{0}.so' is not installed beside this program, but MPI "
        "started it; help: build Fovea with the MPI headers installed",
        launch.library));
  // Its own plug-ins search for the library's symbols.
  void *plugin = dlopen(path->c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (!plugin)
    return Status::machine(
        fmt::format("cannot open '{}': {}", *path, dlerror()));
  auto *entry = reinterpret_cast<const FoveaMessages *(*)(int)>(
      dlsym(plugin, "fovea_messages"));
  const FoveaMessages *messages =
      entry ? entry(FOVEA_MESSAGES_VERSION) : nullptr;
  if (!messages)
    return Status::machine(
        fmt::format("'{}' belongs to another version of Fovea", *path));
  std::unique_ptr<MpiTeam> made(new MpiTeam(*messages));
  copyWhereNobodyReads();
  if (int error = messages->start(&made->ownRank, &made->numRanks))
    return Status::machine(
        fmt::format("MPI failed to start ({})", messages->explain(error)));
  if (const char *rate = std::getenv("FOVEA_LINK_GBIT"))
    made->bytesPerSecond = std::atof(rate) * 1e9 / 8;
  made->carer = std::thread([team = made.get()] { team->lookAfter(); });
  made->meet();
  team = std::move(made);
  return Status::success();
}

/// Finds the hosts of all ranks, and which ranks share CPUs.
void MpiTeam::meet() {
  hosts.assign(numRanks, "");
  char host[256] = "";
  gethostname(host, sizeof(host) - 1);
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  sched_getaffinity(0, sizeof(cpus), &cpus);
  std::string own = host;
  own += '\0';
  own.append(reinterpret_cast<const char *>(&cpus), sizeof(cpus));
  std::vector<std::string> all = gatherTexts(own);
  numSharers = std::count(all.begin(), all.end(), own);
  hasOwnCpu = numSharers <= CPU_COUNT(&cpus);
  for (int rank = 0; rank < numRanks; ++rank)
    hosts[rank] = all[rank].c_str();
  counted = {};
  if (Pair *pair = watched())
    pair->isMeeting = false;
  std::lock_guard lock(mutex);
  for (int rank = 0; rank < numRanks; ++rank)
    if (rank != ownRank && (rank == 0 || ownRank == 0))
      peers.push_back({.rank = rank});
  hasWork.notify_all();
}

MpiTeam::~MpiTeam() {
  if (!carer.joinable())
    return;
  leave();
  carer.join();
  if (Pair *pair = watched())
    pair->isMeeting = true;
  messages.end();
}

std::string MpiTeam::nameOf(int rank) const {
  return fmt::format("rank {} on '{}'", rank, hosts[rank]);
}

void MpiTeam::check(int error) {
  if (error != 0)
    endWorker(fmt::format("rank {} lost the connection to the others: {}",
                          ownRank, messages.explain(error)),
              /*isSure=*/false);
}

//===----------------------------------------------------------------------===//
// Who is there
//===----------------------------------------------------------------------===//

void MpiTeam::hear(Peer &peer) {
  while (!peer.hasLeft) {
    if (!peer.receiving)
      check(messages.receive(&peer.in, peer.rank, &peer.receiving));
    if (!isDone(peer.receiving))
      return;
    peer.silence = 0;
    peer.hasLeft = peer.in != 0;
  }
}

/// Sends this process's heartbeat, and checks those of the others. Call it
/// under the mutex, as often as you like.
void MpiTeam::beat() {
  const Pair *pair = watched();
  double period = pair ? pair->beatSeconds() : 1;
  bool isTime = Clock::now() >= nextBeat;
  if (!isTime && !isLeaving)
    return;
  if (isTime)
    nextBeat = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                  std::chrono::duration<double>(period));
  // Without its watcher a process could not be ended, so it sends no heartbeat.
  bool isWatched = !pair || pair->beats != watcherBeats;
  watcherBeats = pair ? pair->beats.load() : 0;
  for (Peer &peer : peers) {
    if (!peer.isLeft && isDone(peer.sending) && (isWatched || isLeaving)) {
      peer.isLeft = isLeaving;
      peer.out = char(isLeaving);
      check(messages.send(&peer.out, peer.rank, &peer.sending));
    }
    hear(peer);
    if (!isTime || peer.hasLeft)
      continue;
    // Do not use the clock: a process that was stopped itself has not listened.
    peer.silence += period;
    if (pair && pair->patience > 0 &&
        peer.silence > pair->patienceOf(ownRank) + period)
      endWorker(fmt::format("{} has not answered for {} s", nameOf(peer.rank),
                            pair->patience.load()),
                /*isSure=*/true);
  }
}

/// Waits for all, while a thread checks heartbeats.
void MpiTeam::leave() {
  std::unique_lock lock(mutex);
  isLeaving = true;
  hasWork.notify_all();
  auto isGone = [&](Peer &peer) {
    return peer.isLeft && peer.hasLeft && isDone(peer.sending);
  };
  while (!std::all_of(peers.begin(), peers.end(), isGone)) {
    lock.unlock();
    usleep(200);
    lock.lock();
  }
  isOver = true;
  hasWork.notify_all();
}

//===----------------------------------------------------------------------===//
// Transfers
//===----------------------------------------------------------------------===//

/// A started transfer, under the mutex; `bytes` travel over the link in one
/// direction.
int64_t MpiTeam::begin(void *handle, int64_t bytes) {
  Transfer &transfer = transfers[++numbered];
  transfer.handle = handle;
  if (bytesPerSecond > 0) {
    std::chrono::duration<double> needed(double(bytes) / bytesPerSecond);
    linkIsFree = std::max(linkIsFree, Clock::now()) +
                 std::chrono::duration_cast<Clock::duration>(needed);
    transfer.notBefore = linkIsFree;
  }
  hasWork.notify_all();
  return numbered;
}

/// Returns whether the transfer is done, or none was started.
bool MpiTeam::isDone(void *&handle) {
  int isDone = 1;
  if (handle)
    check(messages.test(handle, &isDone));
  if (isDone)
    handle = nullptr;
  return isDone != 0;
}

void MpiTeam::test(Transfer &transfer) {
  transfer.isDone = isDone(transfer.handle);
}

/// Messages progress only during calls of the library.
void MpiTeam::lookAfter() {
  std::unique_lock lock(mutex);
  while (!isOver) {
    beat();
    bool isBusy = isLeaving;
    for (auto &[number, transfer] : transfers) {
      test(transfer);
      isBusy |= !transfer.isDone;
    }
    if (isBusy)
      hasWork.wait_for(lock, std::chrono::microseconds(200));
    else if (peers.empty())
      hasWork.wait(lock);
    else
      hasWork.wait_until(lock, nextBeat);
  }
}

void MpiTeam::finish(int64_t number) {
  Clock::time_point from = Clock::now();
  for (int64_t looks = 0;; ++looks) {
    {
      std::lock_guard lock(mutex);
      Transfer &transfer = transfers[number];
      test(transfer);
      if (transfer.isDone && Clock::now() >= transfer.notBefore) {
        transfers.erase(number);
        break;
      }
    }
    // The library moves a piece of a large message at each call.
    if (looks < 20 || hasOwnCpu)
      sched_yield();
    else
      usleep(looks < 200 ? 20 : 200);
  }
  counted.seconds += std::chrono::duration<double>(Clock::now() - from).count();
}

/// Other ranks: how many have data, and how many units in total.
static std::pair<int64_t, int64_t> ofOthers(const Parts &parts, int own) {
  int64_t ranks = 0, units = 0;
  for (int rank = 0; rank < int(parts.counts.size()); ++rank)
    if (rank != own) {
      ranks += parts.counts[rank] > 0;
      units += parts.counts[rank];
    }
  return {ranks, units};
}

static FoveaParts partsOf(const Parts &parts) {
  return {parts.counts.data(), parts.places.data()};
}

int64_t MpiTeam::beginExchange(const void *from, const Parts &sent, void *to,
                               const Parts &received, int64_t unit) {
  auto [ranks, units] = ofOthers(sent, ownRank);
  int64_t arriving = ofOthers(received, ownRank).second;
  counted.messages += double(ranks);
  counted.bytes += double(units * unit);
  std::lock_guard lock(mutex);
  void *handle = nullptr;
  check(messages.exchange(from, partsOf(sent), to, partsOf(received), unit,
                          &handle));
  return begin(handle, std::max(units, arriving) * unit);
}

void MpiTeam::gather(void *array, const Parts &parts, int64_t unit) {
  int64_t own = parts.counts[ownRank] * (numRanks - 1);
  int64_t arriving = ofOthers(parts, ownRank).second;
  counted.messages += own > 0 ? numRanks - 1 : 0;
  counted.bytes += double(own * unit);
  int64_t number;
  {
    std::lock_guard lock(mutex);
    void *handle = nullptr;
    check(messages.gather(array, partsOf(parts), unit, &handle));
    number = begin(handle, std::max(own, arriving) * unit);
  }
  finish(number);
}

void MpiTeam::broadcast(void *bytes, int64_t size) {
  constexpr int64_t most = 1 << 30;
  for (int64_t from = 0; from < size; from += most) {
    int64_t number;
    {
      std::lock_guard lock(mutex);
      void *handle = nullptr;
      check(messages.broadcast(static_cast<char *>(bytes) + from,
                               std::min(size - from, most), &handle));
      number = begin(handle, 0);
    }
    finish(number);
  }
}
