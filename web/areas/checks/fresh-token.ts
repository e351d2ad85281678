/** Newly created token of a heartbeat, which cannot be read again */
import { signal } from '@preact/signals';

export const newHeartbeatToken = signal<{ readonly id: string; readonly token: string } | undefined>(undefined);
