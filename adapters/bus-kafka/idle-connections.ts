/**
 * Connections of `kafkajs` look for requests that wait with a timer that sets itself anew, and while the broker throttles
 * nothing its delay is negative: an idle connection wakes the process each millisecond (5 % of a core each). Here they
 * look only while a request waits; each one that comes to wait, and each answer, looks again.
 */
import { createRequire } from 'node:module';

interface RequestQueue {
  readonly pending: readonly unknown[];
  scheduleCheckPendingRequests(): void;
}

const { prototype } = createRequire(import.meta.url)('kafkajs/src/network/requestQueue') as { prototype: RequestQueue };
const { scheduleCheckPendingRequests: schedule } = prototype;

prototype.scheduleCheckPendingRequests = function (this: RequestQueue): void {
  if (this.pending.length > 0) schedule.call(this);
};
