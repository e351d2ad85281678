/** State of the series of detectors: the scorer's state of each, and its anomaly while that lasts. */

import type { Episode } from '../../subjects/anomalies/episodes.ts';
import { stateBytes } from '../../subjects/anomalies/scores/state.ts';
import type { StateDefinition } from '../engine/definition.ts';

/** A series that a detector monitors. */
export interface WatchedSeries {
  readonly name: string;
  readonly unit: string;
  readonly labels: Readonly<Record<string, string>>;
  /** End of the last step that was scored or counted as 0. */
  upToMs: number;
  /** End of the last step that a query result contained. */
  seenMs: number;
  firstMs: number;
  /** Whether the series has enough history to be scored. */
  isScored: boolean;
  episode: Episode | undefined;
  /** The scorer's state (`subjects/anomalies/scores/state.ts`). */
  scorerState: Uint8Array;
}

/** A detector and the series that it monitors. */
export interface WatchedDetector {
  queryHash: string;
  watchedFromMs: number | null;
  evaluationCount: number;
  /** Number of series of the current evaluation that exceed the limit. */
  unmonitoredCount: number;
  readonly series: Map<string, WatchedSeries>;
}

/** Bytes of a series in addition to the scorer's state. */
const extraBytes = 512;

/** Detectors of a tenant by id. */
export class WatchedDetectors {
  readonly detectors = new Map<string, WatchedDetector>();
  #series = 0;

  get series(): number {
    return this.#series;
  }

  add(watched: WatchedDetector, key: string, series: WatchedSeries): void {
    watched.series.set(key, series);
    this.#series++;
  }

  removeSeries(watched: WatchedDetector, key: string): void {
    if (watched.series.delete(key)) this.#series--;
  }

  removeDetector(detectorId: string): void {
    this.#series -= this.detectors.get(detectorId)?.series.size ?? 0;
    this.detectors.delete(detectorId);
  }

  get size(): { entries: number; bytes: number; evicted: number } {
    return { entries: this.#series, bytes: this.#series * (stateBytes + extraBytes), evicted: 0 };
  }
}

/** Positional, because property names would be most of the size. */
type SavedSeries = [
  key: string,
  ...[name: string, unit: string, labels: WatchedSeries['labels'], isScored: 0 | 1],
  ...[firstMs: number, upToMs: number, seenMs: number, episode?: Episode],
];
/** Versions before and after an upgrade read the same saved states, so the property names cannot change. */
interface SavedProgress extends Pick<WatchedDetector, 'watchedFromMs'> {
  readonly question: WatchedDetector['queryHash'];
  readonly looks: WatchedDetector['evaluationCount'];
  readonly refused: WatchedDetector['unmonitoredCount'];
}
type SavedDetector = [id: string, progress: SavedProgress, series: SavedSeries[]];

/**
 * Serializes the state: the length and JSON of everything except the scorer's states, then the scorer's state of each
 * series in the same order.
 */
const serializeState = ({ detectors }: WatchedDetectors): Uint8Array => {
  const scorerStates: Uint8Array[] = [];
  const saved = [...detectors].map(
    ([id, { series, queryHash, watchedFromMs, evaluationCount, unmonitoredCount }]): SavedDetector => [
      id,
      { question: queryHash, watchedFromMs, looks: evaluationCount, refused: unmonitoredCount },
      [...series].map(([key, watchedSeries]): SavedSeries => {
        scorerStates.push(watchedSeries.scorerState);
        const { name, unit, labels, isScored, firstMs, upToMs, seenMs, episode } = watchedSeries;
        const saved = [key, name, unit, labels, isScored ? 1 : 0, firstMs, upToMs, seenMs] as const;
        return episode === undefined ? [...saved] : [...saved, episode];
      }),
    ],
  );
  const head = Buffer.from(JSON.stringify(saved));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(head.length);
  return Buffer.concat([length, head, ...scorerStates]);
};

const restoreState = (saved?: Uint8Array): WatchedDetectors => {
  const state = new WatchedDetectors();
  if (saved === undefined) return state;
  const bytes = Buffer.from(saved.buffer, saved.byteOffset, saved.byteLength);
  let offset = 4 + bytes.readUInt32LE(0);
  const detectors = JSON.parse(bytes.toString('utf8', 4, offset)) as SavedDetector[];
  // Older versions saved fewer bytes per series; the rest is 0.
  const savedStateBytes = (bytes.length - offset) / detectors.reduce((sum, [, , series]) => sum + series.length, 0);
  for (const [id, { question, watchedFromMs, looks, refused }, series] of detectors) {
    const detector: WatchedDetector = {
      queryHash: question,
      watchedFromMs,
      evaluationCount: looks,
      unmonitoredCount: refused,
      series: new Map(),
    };
    state.detectors.set(id, detector);
    for (const [key, name, unit, labels, isScored, firstMs, upToMs, seenMs, episode] of series) {
      const scorerState = new Uint8Array(stateBytes);
      scorerState.set(bytes.subarray(offset, offset + Math.min(savedStateBytes, stateBytes)));
      offset += savedStateBytes;
      state.add(detector, key, {
        name,
        unit,
        labels,
        isScored: isScored === 1,
        firstMs,
        upToMs,
        seenMs,
        episode,
        scorerState,
      });
    }
  }
  return state;
};

export const watchedDetectors: StateDefinition<WatchedDetectors> = {
  version: 3,
  open: restoreState,
  save: serializeState,
  size: ({ size }) => size,
  // Version 2 saved a shorter state per series and is otherwise identical.
  upgrade: (saved, version) => (version === 2 ? saved : undefined),
};
