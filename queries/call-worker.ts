/** Calls exported functions of modules in a worker, for `worker.ts`. */
import { parentPort } from 'node:worker_threads';
import type { CallReply, CallRequest } from './call-messages.ts';

parentPort?.on('message', async ({ id, setup, module, name, args }: CallRequest) => {
  try {
    if (setup !== undefined) await import(setup);
    const { [name]: calledFunction } = (await import(module)) as Record<
      string,
      (...all: readonly unknown[]) => unknown
    >;
    parentPort?.postMessage({ id, result: calledFunction?.(...args) } satisfies CallReply);
  } catch (error) {
    parentPort?.postMessage({ id, error } satisfies CallReply);
  }
});
