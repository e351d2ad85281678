/** Live tail of records over a WebSocket. After a disconnect it resumes at the last received frame. */
import { signal } from '@preact/signals';
import type { z } from 'zod';
import type { HeartbeatFrame, LogsFrame } from '../../api/streams/frame.ts';

type Frame = z.output<typeof LogsFrame> | z.output<typeof HeartbeatFrame>;
export type TailedRecord = z.output<typeof LogsFrame>['records'][number];

/** Maximum number of records in memory; older ones are discarded */
const maxRecords = 5_000;
/** Minimum interval between display updates, which limits the load on the browser */
const displayIntervalMs = 200;
const maxReconnectMs = 30_000;

/** State of a live tail */
export interface TailState {
  readonly status: 'connecting' | 'live' | 'waiting' | 'paused' | 'over';
  /** Reason for a reconnect; otherwise empty */
  readonly reason: string;
}

/** Records that the server did not send since the tail started */
export interface MissedRecords {
  readonly dropped: number;
  readonly skipped: number;
  readonly hasGap: boolean;
}

const nothingMissed: MissedRecords = { dropped: 0, skipped: 0, hasGap: false };

export class LiveTail {
  readonly state = signal<TailState>({ status: 'over', reason: '' });
  /** Displayed records, newest first */
  readonly records = signal<readonly TailedRecord[]>([]);
  readonly missed = signal<MissedRecords>(nothingMissed);
  /** Number of displayed records since the tail started */
  readonly receivedCount = signal(0);
  /** Number of records received while paused */
  readonly pendingCount = signal(0);
  #buffer: TailedRecord[] = [];
  #receivedCount = 0;
  #missed = nothingMissed;
  #socket: WebSocket | undefined;
  #position = '';
  #query: Readonly<Record<string, string>> = {};
  #reconnectTimer: ReturnType<typeof setTimeout> | undefined;
  #displayTimer: ReturnType<typeof setTimeout> | undefined;
  #failedAttempts = 0;
  #isPaused = false;

  /** Opens the tail. It starts with the latest matching records. */
  open(query: Readonly<Record<string, string>>): void {
    this.close();
    this.#query = query;
    this.#position = '';
    this.#buffer = [];
    this.#receivedCount = 0;
    this.#missed = nothingMissed;
    this.#isPaused = false;
    this.#updateDisplay();
    this.#connect();
  }

  #connect(): void {
    this.state.value = { status: this.#isPaused ? 'paused' : 'connecting', reason: '' };
    const startParams: Record<string, string> = this.#position === '' ? { last: '200' } : { resume: this.#position };
    const address = new URL(`/ws/live-tail?${new URLSearchParams({ ...this.#query, ...startParams })}`, location.href);
    address.protocol = address.protocol.replace('http', 'ws');
    const socket = new WebSocket(address);
    this.#socket = socket;
    socket.addEventListener('open', () => {
      this.#failedAttempts = 0;
      this.state.value = { status: this.#isPaused ? 'paused' : 'live', reason: '' };
    });
    socket.addEventListener('message', ({ data }) => this.#handleFrame(JSON.parse(String(data)) as Frame));
    socket.addEventListener('close', ({ reason }) => {
      if (this.#socket !== socket) return;
      const waitMs = Math.min(maxReconnectMs, 1_000 * 2 ** this.#failedAttempts++);
      const closeReason = reason === '' ? 'The connection was closed' : reason;
      this.state.value = {
        status: 'waiting',
        reason: `${closeReason}. Reconnecting after the last record in ${waitMs / 1_000} s.`,
      };
      this.#reconnectTimer = setTimeout(() => this.#connect(), waitMs);
    });
  }

  #handleFrame(frame: Frame): void {
    this.#position = frame.position;
    const { dropped, skipped, hasGap } = this.#missed;
    this.#missed = {
      dropped: dropped + frame.dropped,
      skipped: skipped + frame.skipped,
      hasGap: hasGap || frame.gap,
    };
    if (frame.type === 'records') {
      this.#buffer.push(...frame.records);
      this.#receivedCount += frame.records.length;
      // Trims only when the buffer has doubled, because copying all records for each frame is expensive.
      if (this.#buffer.length > maxRecords * 2) this.#buffer = this.#buffer.slice(-maxRecords);
    }
    this.#displayTimer ??= setTimeout(() => this.#updateDisplay(), displayIntervalMs);
  }

  #updateDisplay(): void {
    clearTimeout(this.#displayTimer);
    this.#displayTimer = undefined;
    this.missed.value = this.#missed;
    if (this.#isPaused) {
      this.pendingCount.value = this.#receivedCount - this.receivedCount.peek();
      return;
    }
    this.receivedCount.value = this.#receivedCount;
    this.pendingCount.value = 0;
    this.records.value = this.#buffer.slice(-maxRecords).reverse();
  }

  /** Pauses the display. Received records are buffered. */
  pause(): void {
    this.#isPaused = true;
    if (this.state.peek().status === 'live') this.state.value = { status: 'paused', reason: '' };
  }

  resume(): void {
    this.#isPaused = false;
    if (this.state.peek().status === 'paused') this.state.value = { status: 'live', reason: '' };
    this.#updateDisplay();
  }

  close(): void {
    clearTimeout(this.#reconnectTimer);
    clearTimeout(this.#displayTimer);
    this.#displayTimer = undefined;
    const socket = this.#socket;
    this.#socket = undefined;
    socket?.close();
    this.state.value = { status: 'over', reason: '' };
  }
}
