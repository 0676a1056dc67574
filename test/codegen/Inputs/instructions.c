/* A plugin of QEMU's user mode that counts the instructions of a program:
 *
 *   qemu-x86_64 -plugin ./instructions.so COMMAND ..
 *
 * FOVEA_COUNTS=FILE takes their number at the end. QEMU's header is in none of
 * Debian's packages, so what is used of it is declared here; its version of
 * this interface is 1. */

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

struct qemu_info_t;
struct qemu_plugin_tb;
enum qemu_plugin_op { QEMU_PLUGIN_INLINE_ADD_U64 };

extern void qemu_plugin_register_vcpu_tb_trans_cb(
    uint64_t id, void (*translated)(uint64_t id, struct qemu_plugin_tb *block));
extern void
qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *block,
                                         enum qemu_plugin_op op, void *counter,
                                         uint64_t by);
extern void qemu_plugin_register_atexit_cb(uint64_t id,
                                           void (*end)(uint64_t id, void *data),
                                           void *data);
extern size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);

int qemu_plugin_version = 1;

static uint64_t instructions;

/* A block of instructions without a branch is counted when it runs. */
static void translated(uint64_t id, struct qemu_plugin_tb *block) {
  (void)id;
  qemu_plugin_register_vcpu_tb_exec_inline(block, QEMU_PLUGIN_INLINE_ADD_U64,
                                           &instructions,
                                           qemu_plugin_tb_n_insns(block));
}

static void end(uint64_t id, void *data) {
  (void)id, (void)data;
  const char *path = getenv("FOVEA_COUNTS");
  FILE *file = path ? fopen(path, "w") : NULL;
  if (!file || fprintf(file, "%" PRIu64 "\n", instructions) < 0 ||
      fclose(file) != 0)
    abort();
}

int qemu_plugin_install(uint64_t id, const struct qemu_info_t *info, int argc,
                        char **argv) {
  (void)info, (void)argc, (void)argv;
  qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
  qemu_plugin_register_atexit_cb(id, end, NULL);
  return 0;
}
