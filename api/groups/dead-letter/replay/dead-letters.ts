import { setTimeout as sleep } from 'node:timers/promises';
import { decodeCursor, encodeCursor, uint64Pattern } from '../../../../queries/cursor.ts';
import type { DeadLetterHeaders } from '../../../../schemas/dead-letter.ts';
import { PermanentError } from '../../../../schemas/errors.ts';
import type { Bus, Message } from '../../../../schemas/ports/bus.ts';
import type { Clock } from '../../../../schemas/ports/clock.ts';
import type { Columns } from '../../../../schemas/ports/columns.ts';
import type { DeadLetterMark } from '../../../../schemas/topics.ts';
import {
  countDeadLetters,
  type DeadLetter,
  type DeadLetterFilter,
  readDeadLetters,
} from '../../../../subjects/dead-letters/dead-letters.ts';
import type {
  DeadLetterPayload,
  DeadLetterResult,
  DeadLetters,
  Progress,
  RunOptions,
} from '../../../kernel/ports/dead-letters.ts';
import { createCommitter, type PreparedDeadLetter } from './committer.ts';
import { readPayload } from './payload.ts';

export interface DeadLettersOptions {
  readonly bus: Bus;
  readonly columns: Columns;
  readonly clock: Clock;
  /**
   * Checks a rejected body again and returns the messages that publish it; throws `PermanentError` when it is still
   * invalid.
   */
  republish(headers: DeadLetterHeaders, body: Buffer): Promise<readonly Message[]> | readonly Message[];
}

const chunkSize = 64;
const chunkBytes = 16 * 1024 * 1024;
const maxAttempts = 8;
const minBackoffUnitMs = 200;
const maxBackoffUnitMs = 2000;

export const createDeadLetters = ({ bus, columns, clock, republish }: DeadLettersOptions): DeadLetters => {
  const committer = createCommitter(bus, columns);

  const prepare = async (deadLetter: DeadLetter): Promise<PreparedDeadLetter> => {
    try {
      return { deadLetter, messages: await toMessages(deadLetter, await readPayload(bus, deadLetter), republish) };
    } catch (error) {
      if (!(error instanceof PermanentError)) throw error;
      return { deadLetter, messages: [], failure: error };
    }
  };

  const run = async (
    filter: DeadLetterFilter,
    outcome: DeadLetterMark['outcome'],
    options: RunOptions,
  ): Promise<Progress> => {
    const openFilter: DeadLetterFilter = {
      ...filter,
      state: 'open',
      toMs: Math.min(filter.toMs ?? clock.now(), clock.now()),
    };
    const counts = createProgressCounter(await countDeadLetters(columns, openFilter));
    const markedAt = new Date(clock.now()).toISOString();
    for await (const deadLetters of readChunks(columns, openFilter)) {
      if (options.signal?.aborted) break;
      const prepared =
        outcome === 'replayed'
          ? await Promise.all(deadLetters.map(prepare))
          : deadLetters.map((deadLetter): PreparedDeadLetter => ({ deadLetter, messages: [] }));
      const publishable = prepared.filter(({ failure }) => failure === undefined);
      const results = prepared.flatMap(({ deadLetter, failure }) =>
        failure ? [toFailedResult(deadLetter, failure)] : [],
      );
      results.push(
        ...(options.dryRun
          ? publishable.map(({ deadLetter: { id, tenantId } }): DeadLetterResult => ({ id, tenantId, outcome: 'done' }))
          : await commitAllOrEach(publishable, (part) =>
              committer.commit(part, { outcome, actor: options.actor, markedAt }),
            )),
      );
      const progress = counts.add(results);
      await options.onProgress?.(progress, results);
    }
    return counts.add([]);
  };

  return {
    async list(filter, { limit = 100, cursor, signal } = {}) {
      const after = cursor === undefined ? undefined : parseCursor(cursor);
      const rows = await readDeadLetters(columns, filter, { limit: limit + 1, after, newestFirst: true, signal });
      const items = rows.slice(0, limit);
      const last = items.at(-1);
      const hasMore = rows.length > limit && last !== undefined;
      return { items, nextCursor: hasMore ? encodeCursor(cursorKind, [Date.parse(last.receivedAt), last.id]) : null };
    },
    async show(id, tenantId, signal) {
      const [deadLetter] = await readDeadLetters(
        columns,
        { ids: [id], tenantId },
        { limit: 1, newestFirst: true, signal },
      );
      if (deadLetter === undefined) return undefined;
      const payload = await readPayload(bus, deadLetter, signal).catch((error: unknown) => {
        if (error instanceof PermanentError) return undefined;
        throw error;
      });
      return { deadLetter, payload };
    },
    replay: (filter, options) => run(filter, 'replayed', options),
    discard: (filter, options) => run(filter, 'discarded', options),
    close: () => committer.close(),
  };
};

const cursorKind = 'dead-letters';
const parseCursor = (cursor: string): { receivedAtMs: number; id: string } => {
  const [time = '', id = ''] = decodeCursor(cursorKind, cursor, [uint64Pattern, /^.{1,256}$/]);
  return { receivedAtMs: Number(time), id };
};

/**
 * Commits all dead letters in one transaction. If the bus permanently rejects it, commits them one by one, so that only
 * the rejected ones fail.
 */
const commitAllOrEach = async (
  prepared: readonly PreparedDeadLetter[],
  commit: (part: readonly PreparedDeadLetter[]) => Promise<DeadLetterResult[]>,
): Promise<DeadLetterResult[]> => {
  if (prepared.length === 0) return [];
  try {
    return await retry(() => commit(prepared));
  } catch (error) {
    if (!(error instanceof PermanentError)) throw error;
    const [only] = prepared;
    if (prepared.length === 1 && only !== undefined) return [toFailedResult(only.deadLetter, error)];
    const results: DeadLetterResult[] = [];
    for (const preparedDeadLetter of prepared) results.push(...(await commitAllOrEach([preparedDeadLetter], commit)));
    return results;
  }
};

/**
 * Retries when another process took over the transactional id, or the bus is briefly unavailable. Two processes that
 * fence each other back off by multiples of the time that an attempt takes, so that one of them completes on a slow
 * machine, too.
 */
const retry = async <Value>(work: () => Promise<Value>): Promise<Value> => {
  for (let attempt = 1; ; attempt++) {
    const startMs = performance.now();
    try {
      return await work();
    } catch (error) {
      if (error instanceof PermanentError || attempt === maxAttempts) throw error;
      const unitMs = Math.min(Math.max(minBackoffUnitMs, performance.now() - startMs), maxBackoffUnitMs);
      await sleep(Math.random() * unitMs * 2 ** Math.min(attempt, 5));
    }
  }
};

/**
 * A rejected body is checked again; a message that a consumer could not process goes back to its topic, for that
 * consumer only.
 */
const toMessages = async (
  { id, kind }: DeadLetter,
  { headers, bytes }: DeadLetterPayload,
  republish: DeadLettersOptions['republish'],
): Promise<readonly Message[]> => {
  if (headers.cut)
    throw new PermanentError(
      'cut',
      `only the first ${bytes.length} of ${headers.size} bytes of dead letter ${id} were stored`,
    );
  if (headers.reason === 'damaged')
    throw new PermanentError('damaged', `dead letter ${id} is part of a damaged log file: it is not a message`);
  if (kind === 'refused') return republish(headers, bytes);
  return [
    {
      topic: headers.topic,
      key: headers.tenantId,
      value: bytes,
      headers: { ...headers.originalHeaders, 'only-group': headers.origin },
    },
  ];
};

/** Reads dead letters, oldest first, in chunks with a limited number of dead letters and bytes. */
async function* readChunks(columns: Columns, filter: DeadLetterFilter): AsyncGenerator<DeadLetter[]> {
  let after: { receivedAtMs: number; id: string } | undefined;
  while (true) {
    const rows = await readDeadLetters(columns, filter, { limit: chunkSize, after, newestFirst: false });
    let chunk: DeadLetter[] = [];
    let bytes = 0;
    for (const deadLetter of rows) {
      if (chunk.length > 0 && bytes + deadLetter.size > chunkBytes) {
        yield chunk;
        chunk = [];
        bytes = 0;
      }
      chunk.push(deadLetter);
      bytes += deadLetter.size;
    }
    if (chunk.length > 0) yield chunk;
    const last = rows.at(-1);
    if (last === undefined || rows.length < chunkSize) return;
    after = { receivedAtMs: Date.parse(last.receivedAt), id: last.id };
  }
}

const toFailedResult = ({ id, tenantId }: DeadLetter, { reason, message }: PermanentError): DeadLetterResult => ({
  id,
  tenantId,
  outcome: 'failed',
  reason,
  message,
});

const createProgressCounter = (matched: number): { add(results: readonly DeadLetterResult[]): Progress } => {
  let done = 0;
  let already = 0;
  let failed = 0;
  const failedByReason: Record<string, number> = {};
  return {
    add(results) {
      for (const { outcome, reason = '' } of results) {
        if (outcome === 'done') done++;
        else if (outcome === 'already') already++;
        else {
          failed++;
          failedByReason[reason] = (failedByReason[reason] ?? 0) + 1;
        }
      }
      return {
        matched: Math.max(matched, done + already + failed),
        done,
        already,
        failed,
        failedByReason: { ...failedByReason },
      };
    },
  };
};
