/**
 * Yields the results of tasks with their indexes, as soon as each has ended; `atOnce` tasks run concurrently. If the
 * reader stops, no more tasks start.
 */
export async function* yieldAsCompleted<Value>(
  tasks: readonly (() => Promise<Value>)[],
  atOnce: number,
): AsyncGenerator<readonly [at: number, value: Value]> {
  const running = new Map<number, Promise<readonly [number, Value]>>();
  let next = 0;
  while (next < tasks.length || running.size > 0) {
    for (; next < tasks.length && running.size < atOnce; next++) {
      const at = next;
      running.set(
        at,
        (tasks[at] as () => Promise<Value>)().then((value) => [at, value] as const),
      );
    }
    const ended = await Promise.race(running.values());
    running.delete(ended[0]);
    yield ended;
  }
}
