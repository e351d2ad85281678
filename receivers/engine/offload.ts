/** Decides whether bodies are prepared on the main thread or in a worker. */
import { Worker } from 'node:worker_threads';
import { TooLargeError } from '../../schemas/compression.ts';
import { PermanentError, UnavailableError } from '../../schemas/errors.ts';
import { type BodyShape, type MessagePart, type PreparedBody, prepareBody } from './prepare.ts';
import { countBytes, joinParts } from './request-body.ts';

/** Compressed bodies above this may take too long to decompress on the main thread. */
const minLargeCompressedBytes = 256 * 1024;
/** Decompressed bodies above this may take too long to scan. */
const largeBytes = 4 * 1024 * 1024;
/** Bodies of costly formats above this may take too long to translate. */
const largeCostlyBytes = 256 * 1024;
/** Maximum number of waiting jobs; more would use too much memory. */
const maxQueueLength = 64;

const toError = (failure: Failure): Error => {
  if (failure.kind === 'permanent') {
    const error = new PermanentError(failure.reason, failure.message, { position: failure.position });
    error.decompressedBytes = failure.decompressedBytes;
    return error;
  }
  return failure.kind === 'too-large' ? new TooLargeError(failure.limitBytes) : new UnavailableError(failure.message);
};

/** Input of the worker. The format is passed by name, because functions cannot be transferred. */
export interface Job extends Omit<BodyShape, 'format'> {
  readonly format: string;
  /** Body in parts, which the worker joins: copying a large body at once would block the event loop. */
  readonly parts: readonly Uint8Array[];
  readonly limitBytes: number;
}

/** The body is returned with the result, because its memory was transferred, not copied. */
export type JobResult =
  | { readonly prepared: PreparedBody; readonly body: Uint8Array }
  | { readonly failure: Failure; readonly body: Uint8Array };

/** A serializable error. */
export type Failure =
  | {
      readonly kind: 'permanent';
      readonly reason: string;
      readonly message: string;
      readonly position: number | undefined;
      readonly decompressedBytes: number | undefined;
    }
  | { readonly kind: 'too-large'; readonly limitBytes: number }
  | { readonly kind: 'other'; readonly message: string };

/** The body is returned with the result, because its memory belonged to a worker in the meantime. */
export type OffloadResult =
  | { readonly prepared: PreparedBody; readonly body: Buffer }
  | { readonly error: unknown; readonly body: Buffer };

interface QueuedJob {
  readonly job: Job;
  /** Start of the wait, by `performance.now()` */
  readonly queuedAtMs: number;
  readonly resolve: (outcome: OffloadResult) => void;
}

const emptyBody = Buffer.alloc(0);

const toBuffer = (view: Uint8Array): Buffer => Buffer.from(view.buffer, view.byteOffset, view.byteLength);

/**
 * Prepares large bodies one after the other. Its thread does not belong to a `WorkerPool`, because jobs wait here: a
 * dead thread loses only the body that it was preparing.
 */
export class Offload {
  readonly #queue: QueuedJob[] = [];
  #worker: Worker | undefined;
  #currentJob: QueuedJob | undefined;
  #isClosed = false;
  readonly #module: URL;

  /** `module` runs in the thread. It returns a `JobResult` for each `Job`. */
  constructor(module: URL) {
    this.#module = module;
  }

  /**
   * Prepares a body; returns synchronously for small ones. The caller must not use `parts` afterwards; the result has
   * the body in one buffer.
   */
  prepare(shape: BodyShape, parts: readonly Buffer[], limitBytes: number): OffloadResult | Promise<OffloadResult> {
    const bytes = countBytes(parts);
    if (this.#isLarge(shape, bytes)) return this.#enqueue(shape, parts, limitBytes);
    const body = joinParts(parts);
    const mainThreadLimit = Math.min(limitBytes, shape.format.isCostly ? largeCostlyBytes : largeBytes);
    try {
      return { prepared: prepareBody(shape, body, mainThreadLimit), body };
    } catch (error) {
      // The body only exceeded the limit of the main thread; the worker applies the real cap.
      if (error instanceof TooLargeError && mainThreadLimit < limitBytes)
        return this.#enqueue(shape, [body], limitBytes);
      return { error, body };
    }
  }

  /** Number of bodies that are prepared or wait. */
  get pending(): number {
    return this.#queue.length + (this.#currentJob === undefined ? 0 : 1);
  }

  /** Returns the waiting time of the oldest of them; 0 if there is none. */
  getOldestMs(): number {
    return this.#currentJob === undefined ? 0 : performance.now() - this.#currentJob.queuedAtMs;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#worker?.terminate();
  }

  #isLarge({ encoding, format, browser, redaction }: BodyShape, bytes: number): boolean {
    // Searching texts for personal data or secrets is expensive, and its cost depends on the sender.
    if (browser !== undefined || redaction !== undefined) return true;
    if (encoding !== 'identity') return bytes > minLargeCompressedBytes;
    return bytes > (format.isCostly ? largeCostlyBytes : largeBytes);
  }

  #enqueue(shape: BodyShape, parts: readonly Buffer[], limitBytes: number): OffloadResult | Promise<OffloadResult> {
    if (this.#isClosed || this.#queue.length >= maxQueueLength) {
      const error = new UnavailableError('too many large bodies are waiting', { retryAfterSeconds: 1 });
      return { error, body: emptyBody };
    }
    // A part of a larger buffer cannot be transferred without the rest.
    const ownedParts = parts.map((part) =>
      part.byteLength === part.buffer.byteLength ? part : Buffer.from(new Uint8Array(part).buffer),
    );
    return new Promise((resolve) => {
      const job = { ...shape, format: shape.format.name, parts: ownedParts, limitBytes };
      this.#queue.push({ job, queuedAtMs: performance.now(), resolve });
      this.#startNextJob();
    });
  }

  #startNextJob(): void {
    if (this.#currentJob !== undefined) return;
    if (this.#isClosed) {
      const error = new UnavailableError('the receiver is shutting down', { retryAfterSeconds: 1 });
      for (const { resolve } of this.#queue.splice(0)) resolve({ error, body: emptyBody });
      return;
    }
    this.#currentJob = this.#queue.shift();
    if (this.#currentJob === undefined) return;
    this.#worker ??= this.#startWorker();
    const { job } = this.#currentJob;
    this.#worker.ref();
    this.#worker.postMessage(
      job,
      job.parts.map(({ buffer }) => buffer as ArrayBuffer),
    );
  }

  #startWorker(): Worker {
    const worker = new Worker(this.#module, {
      execArgv: ['--disable-warning=ExperimentalWarning'],
      resourceLimits: { maxOldGenerationSizeMb: 512 },
    });
    worker.on('message', (result: JobResult) => {
      const body = toBuffer(result.body);
      worker.unref();
      this.#finishJob(
        'failure' in result ? { error: toError(result.failure), body } : { prepared: toBuffers(result.prepared), body },
      );
    });
    worker.on('error', () => this.#onWorkerLost(worker));
    worker.on('exit', () => this.#onWorkerLost(worker));
    return worker;
  }

  /** Rejects the job of a dead worker: its body is lost, and the sender must send it again. */
  #onWorkerLost(worker: Worker): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    this.#finishJob({ error: new UnavailableError('the body could not be checked now'), body: emptyBody });
  }

  #finishJob(outcome: OffloadResult): void {
    const finishedJob = this.#currentJob;
    this.#currentJob = undefined;
    finishedJob?.resolve(outcome);
    this.#startNextJob();
  }
}

const toBufferPart = (part: MessagePart): MessagePart => ({ ...part, bytes: toBuffer(part.bytes) });

/** Buffers arrive from a worker as plain Uint8Arrays. */
const toBuffers = (prepared: PreparedBody): PreparedBody => ({
  ...prepared,
  messageParts: prepared.messageParts.map(toBufferPart),
  additional: prepared.additional.map((parts) => ({ ...parts, messageParts: parts.messageParts.map(toBufferPart) })),
  rejectedParts: prepared.rejectedParts.map((part) => ({ ...part, body: toBuffer(part.body) })),
});
