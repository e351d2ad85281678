/** Live tail of records over a WebSocket, which reconnects after the last received frame */
import { signal } from '@preact/signals';
import type { z } from 'zod';
import type { HeartbeatFrame, LogsFrame } from '../../api/streams/frame.ts';

type Frame = z.output<typeof LogsFrame> | z.output<typeof HeartbeatFrame>;
export type TailedRecord = z.output<typeof LogsFrame>['records'][number];

/** Maximum number of records in memory; older ones are discarded */
const maxRecords = 5_000;
/** Interval of updates in milliseconds, which limits the load on the browser */
const shownEveryMs = 200;
const maxWaitMs = 30_000;

/** State of a live tail */
export interface Tailing {
  readonly is: 'connecting' | 'live' | 'waiting' | 'paused' | 'over';
  /** Why it is waiting */
  readonly reason: string;
}

/** Records that were not displayed since the tail began, as reported by the server */
export interface Missed {
  readonly dropped: number;
  readonly skipped: number;
  readonly hasGap: boolean;
}

const nothingMissed: Missed = { dropped: 0, skipped: 0, hasGap: false };

export class LiveTail {
  readonly state = signal<Tailing>({ is: 'over', reason: '' });
  /** Displayed records, newest first */
  readonly records = signal<readonly TailedRecord[]>([]);
  readonly missed = signal<Missed>(nothingMissed);
  /** Number of records received since the tail began */
  readonly came = signal(0);
  /** Number of records received while paused */
  readonly waiting = signal(0);
  #buffer: TailedRecord[] = [];
  #came = 0;
  #missed = nothingMissed;
  #socket: WebSocket | undefined;
  #position = '';
  #query: Readonly<Record<string, string>> = {};
  #again: ReturnType<typeof setTimeout> | undefined;
  #shows: ReturnType<typeof setTimeout> | undefined;
  #breaks = 0;
  #isPaused = false;

  /** Opens the tail, which begins with the last matching records. */
  open(query: Readonly<Record<string, string>>): void {
    this.close();
    this.#query = query;
    this.#position = '';
    this.#buffer = [];
    this.#came = 0;
    this.#missed = nothingMissed;
    this.#isPaused = false;
    this.#show();
    this.#connect();
  }

  #connect(): void {
    this.state.value = { is: this.#isPaused ? 'paused' : 'connecting', reason: '' };
    const begin: Record<string, string> = this.#position === '' ? { last: '200' } : { resume: this.#position };
    const address = new URL(`/ws/live-tail?${new URLSearchParams({ ...this.#query, ...begin })}`, location.href);
    address.protocol = address.protocol.replace('http', 'ws');
    const socket = new WebSocket(address);
    this.#socket = socket;
    socket.addEventListener('open', () => {
      this.#breaks = 0;
      this.state.value = { is: this.#isPaused ? 'paused' : 'live', reason: '' };
    });
    socket.addEventListener('message', ({ data }) => this.#handleFrame(JSON.parse(String(data)) as Frame));
    socket.addEventListener('close', ({ reason }) => {
      if (this.#socket !== socket) return;
      const waitMs = Math.min(maxWaitMs, 1_000 * 2 ** this.#breaks++);
      const closeReason = reason === '' ? 'The connection was closed' : reason;
      this.state.value = {
        is: 'waiting',
        reason: `${closeReason}. Reconnecting after the last record in ${waitMs / 1_000} s.`,
      };
      this.#again = setTimeout(() => this.#connect(), waitMs);
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
      this.#came += frame.records.length;
      // In steps, because moving all records for each frame is expensive.
      if (this.#buffer.length > maxRecords * 2) this.#buffer = this.#buffer.slice(-maxRecords);
    }
    this.#shows ??= setTimeout(() => this.#show(), shownEveryMs);
  }

  #show(): void {
    clearTimeout(this.#shows);
    this.#shows = undefined;
    this.missed.value = this.#missed;
    if (this.#isPaused) {
      this.waiting.value = this.#came - this.came.peek();
      return;
    }
    this.came.value = this.#came;
    this.waiting.value = 0;
    this.records.value = this.#buffer.slice(-maxRecords).reverse();
  }

  /** Pauses the display; received records are buffered until it resumes. */
  pause(): void {
    this.#isPaused = true;
    if (this.state.peek().is === 'live') this.state.value = { is: 'paused', reason: '' };
  }

  goOn(): void {
    this.#isPaused = false;
    if (this.state.peek().is === 'paused') this.state.value = { is: 'live', reason: '' };
    this.#show();
  }

  close(): void {
    clearTimeout(this.#again);
    clearTimeout(this.#shows);
    this.#shows = undefined;
    const socket = this.#socket;
    this.#socket = undefined;
    socket?.close();
    this.state.value = { is: 'over', reason: '' };
  }
}
