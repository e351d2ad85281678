/** The answers of a dashboard. Only panels in sight are asked, several in one call, and each is shown when its line comes. */
import { type Signal, signal } from '@preact/signals';
import type {
  AnnotationItem,
  DashboardAnswer,
  DashboardLine,
  PanelItem,
} from '../../../subjects/dashboards/query/question.ts';
import { asCurl } from '../../client/as-curl.ts';
import { askLines, CallError } from '../../client/ask.ts';
import type { Standing } from '../../client/question.ts';
import { type Document, queryCall } from './calls.ts';

export type Head = Pick<DashboardAnswer, 'from' | 'to' | 'variables'>;

export interface Asked {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly variables: Readonly<Record<string, string | string[]>>;
  /** What is asked instead of what is saved, while it is edited. */
  readonly draft?: Document | undefined;
}

/** How a panel stands: its items, several where it repeats. The answer before stays while it is asked anew. */
export interface PanelStanding {
  readonly isAsking: boolean;
  readonly items: readonly PanelItem[];
}

/** Panels that come into sight within so long are asked together. */
const gatherMs = 40;
/** While somebody types. */
const typedMs = 400;
const nothing: PanelStanding = { isAsking: false, items: [] };

/** The head of an answer. Where variables are as before they are the same array, for which nothing is drawn anew. */
const headOf = (line: Head, before: Head | undefined): Head =>
  before !== undefined && JSON.stringify(line.variables) === JSON.stringify(before.variables)
    ? { ...line, variables: before.variables }
    : line;

export class Board {
  readonly head = signal<Head | undefined>(undefined);
  readonly annotations = signal<readonly AnnotationItem[]>([]);
  readonly standing = signal<Standing<object>>({ isAsking: false });
  readonly #panels = new Map<string, Signal<PanelStanding>>();
  readonly #inSight = new Set<string>();
  #asked: Asked | undefined;
  /** Panels that were asked since the question changed. */
  #done = new Set<string>();
  #isHeadAsked = false;
  #cancel = new AbortController();
  #gathering: ReturnType<typeof setTimeout> | undefined;
  #running = 0;

  panel(id: string): Signal<PanelStanding> {
    const known = this.#panels.get(id);
    if (known !== undefined) return known;
    const made = signal(nothing);
    this.#panels.set(id, made);
    return made;
  }

  /** Asks everything in sight, and what comes into sight from now on. */
  ask(asked: Asked): void {
    this.cancel();
    this.#asked = asked;
    this.#cancel = new AbortController();
    this.#done = new Set();
    this.#isHeadAsked = false;
    this.#gather();
  }

  see(id: string, isInSight: boolean): void {
    if (isInSight) this.#inSight.add(id);
    else this.#inSight.delete(id);
    if (isInSight && !this.#done.has(id)) this.#gather();
  }

  cancel(): void {
    clearTimeout(this.#gathering);
    this.#gathering = undefined;
    this.#cancel.abort();
    this.#running = 0;
    for (const panel of this.#panels.values())
      if (panel.peek().isAsking) panel.value = { ...panel.peek(), isAsking: false };
  }

  #gather(): void {
    if (this.#asked === undefined || this.#gathering !== undefined) return;
    this.#gathering = setTimeout(
      () => {
        this.#gathering = undefined;
        this.#askNow();
      },
      this.#asked.draft === undefined ? gatherMs : typedMs,
    );
  }

  #askNow(): void {
    if (this.#asked === undefined) return;
    const panels = [...this.#inSight].filter((id) => !this.#done.has(id));
    for (const id of panels) {
      this.#done.add(id);
      const panel = this.panel(id);
      panel.value = { ...panel.peek(), isAsking: true };
    }
    // Asked with panels, only the variables that they use are answered.
    if (!this.#isHeadAsked) void this.#askFor([], this.#asked);
    this.#isHeadAsked = true;
    if (panels.length > 0) void this.#askFor(panels, this.#asked);
  }

  /** Asks panels; without any, variables and annotations. */
  async #askFor(panels: string[], { id, ...question }: Asked): Promise<void> {
    const isHead = panels.length === 0;
    const sent = { params: { id }, body: { ...question, panels, annotations: isHead } };
    const { signal } = this.#cancel;
    this.#running++;
    const curl = asCurl(queryCall, sent);
    this.standing.value = { ...this.standing.peek(), isAsking: true, error: undefined, curl };
    const started = performance.now();
    const found = new Map<string, PanelItem[]>();
    const annotations: AnnotationItem[] = [];
    try {
      for await (const line of askLines(queryCall, sent, signal)) {
        if (signal.aborted) return;
        if (!isHead || !('variables' in (line as DashboardLine))) this.#take(line as DashboardLine, found, annotations);
        else this.head.value = headOf(line as Head, this.head.peek());
      }
    } catch (error) {
      if (!signal.aborted) this.#fail(error, panels);
      return;
    }
    if (signal.aborted) return;
    for (const one of panels) if (!found.has(one)) this.panel(one).value = nothing;
    if (isHead) this.#heed(annotations);
    this.#running--;
    const isAsking = this.#running > 0;
    const tookMs = performance.now() - started;
    this.standing.value = { ...this.standing.peek(), isAsking, answer: {}, answeredAt: Date.now(), tookMs };
  }

  /** Where there are none, as before, charts are not drawn anew for them. */
  #heed(annotations: readonly AnnotationItem[]): void {
    if (annotations.length + this.annotations.peek().length > 0) this.annotations.value = annotations;
  }

  #take(line: DashboardLine, found: Map<string, PanelItem[]>, annotations: AnnotationItem[]): void {
    if ('annotation' in line) annotations.push(line.annotation);
    else if ('panelId' in line) {
      const items = [...(found.get(line.panelId) ?? []), line];
      found.set(line.panelId, items);
      this.panel(line.panelId).value = { isAsking: false, items };
    }
  }

  #fail(failed: unknown, panels: readonly string[]): void {
    this.#running--;
    const error =
      failed instanceof CallError
        ? failed
        : new CallError(`The page failed: ${String(failed)}`, { status: 0, code: 'INTERNAL' });
    for (const id of panels) this.panel(id).value = { ...this.panel(id).peek(), isAsking: false };
    this.standing.value = { ...this.standing.peek(), isAsking: false, error };
    const asked = this.#asked;
    if (error.retrySeconds === undefined || asked === undefined) return;
    clearTimeout(this.#gathering);
    this.#gathering = setTimeout(() => {
      this.#gathering = undefined;
      this.ask(asked);
    }, error.retrySeconds * 1_000);
  }
}
