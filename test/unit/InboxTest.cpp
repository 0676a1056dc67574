//===- InboxTest.cpp - messages, read while others are answered -----------===//
//
// Under the thread sanitizer as well: one thread writes, one reads, one works.
//
//===----------------------------------------------------------------------===//

#include "server/Inbox.h"
#include "gtest/gtest.h"

#include <optional>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace fovea::editors;

namespace {

/// An editor that sends messages, and a server that notes them.
class InboxTest : public testing::Test {
protected:
  InboxTest() {
    EXPECT_EQ(pipe(ends), 0);
    inbox.emplace(ends[0],
                  Inbox::Owner{[this] { return onIdle(); },
                               [this](int, const std::string &why) {
                                 said.push_back("mistake: " + why);
                               },
                               [this](const Inbox::Id &id) {
                                 said.push_back("withdrawn " + textOf(id));
                               },
                               [this](const Inbox::Id &id) {
                                 said.push_back("cancel " + textOf(id));
                               }});
  }
  ~InboxTest() override {
    inbox.reset();
    close(ends[0]);
    close(ends[1]);
  }

  static std::string textOf(const Inbox::Id &id) {
    return std::to_string(*id.getAsInteger());
  }
  void say(const std::string &body) {
    std::string text =
        "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
    EXPECT_EQ(write(ends[1], text.data(), text.size()), ssize_t(text.size()));
  }
  void ask(int id) {
    say(R"({"jsonrpc":"2.0","method":"ask","id":)" + std::to_string(id) + "}");
  }
  void cancel(int id) {
    say(R"({"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":)" +
        std::to_string(id) + "}}");
  }
  void change() {
    say(R"({"jsonrpc":"2.0","method":"textDocument/didChange"})");
  }
  /// The next message to handle; empty at the end.
  std::string next() {
    std::string json;
    if (inbox->readStandardMessage(json).failed())
      return "";
    return inbox->current() ? "ask " + textOf(*inbox->current()) : "notified";
  }
  /// Works until the work is in vain.
  int onIdle() {
    ++numIdle;
    while (isBusy && !inbox->stop())
      std::this_thread::yield();
    return -1;
  }

  int ends[2];
  std::vector<std::string> said;
  std::optional<Inbox> inbox;
  std::atomic<unsigned> numIdle = 0;
  std::atomic<bool> isBusy = false;
};

TEST_F(InboxTest, KeepsTheOrder) {
  std::thread editor([this] {
    for (int id = 0; id < 1000; ++id)
      ask(id);
  });
  for (int id = 0; id < 1000; ++id)
    EXPECT_EQ(next(), "ask " + std::to_string(id));
  editor.join();
}

TEST_F(InboxTest, NewerTextsEndIdleWork) {
  isBusy = true;
  std::thread editor([this] {
    for (int i = 0; i < 20; ++i) {
      unsigned before = numIdle;
      change();
      while (numIdle == before)
        std::this_thread::yield();
    }
  });
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(next(), "notified");
  // The editor waits for one more pause.
  isBusy = false;
  std::thread last([this, &editor] {
    editor.join();
    change();
  });
  EXPECT_EQ(next(), "notified");
  last.join();
}

TEST_F(InboxTest, CancelsWhatIsBegun) {
  ask(7);
  EXPECT_EQ(next(), "ask 7");
  EXPECT_FALSE(inbox->stop());
  cancel(8); // of no request
  cancel(7);
  while (!inbox->stop())
    std::this_thread::yield();
  change();
  EXPECT_EQ(next(), "notified");
  EXPECT_FALSE(inbox->stop());
  EXPECT_EQ(said, (std::vector<std::string>{"cancel 8", "cancel 7"}));
}

TEST_F(InboxTest, WithdrawsWhatWaits) {
  ask(1);
  EXPECT_EQ(next(), "ask 1");
  ask(2);
  ask(3);
  cancel(2);
  say("no JSON");
  change();
  // Once this is read, all is.
  cancel(1);
  while (!inbox->stop())
    std::this_thread::yield();
  EXPECT_EQ(next(), "ask 3");
  EXPECT_EQ(next(), "notified");
  ASSERT_EQ(said.size(), 2u);
  EXPECT_EQ(said[0], "withdrawn 2");
  EXPECT_EQ(said[1].substr(0, 8), "mistake:");
}

TEST_F(InboxTest, EndsWithItsInput) {
  std::thread editor([this] {
    while (numIdle == 0)
      std::this_thread::yield();
    ask(1);
    close(ends[1]);
  });
  EXPECT_EQ(next(), "ask 1");
  EXPECT_EQ(next(), "");
  EXPECT_TRUE(inbox->isEndOfInput());
  editor.join();
  ends[1] = dup(ends[0]); // to be closed
}

} // namespace
