/** The answers of a dashboard. Only panels in sight are asked, several in one call, and each is shown when its line comes. */
import { type Signal, signal } from '@preact/signals';
import type {
  AnnotationItem,
  DashboardAnswer,
  DashboardLine,
  PanelItem,
} from '../../../subjects/dashboards/query/question.ts';
import { asCurl } from '../../client/as-curl.ts';
import type { QueryState } from '../../client/query.ts';
import { CallError, requestLines } from '../../client/request.ts';
import { type Document, queryCall } from './calls.ts';

export type Head = Pick<DashboardAnswer, 'from' | 'to' | 'variables'>;

export interface BoardQuery {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly variables: Readonly<Record<string, string | string[]>>;
  /** What is asked instead of what is saved, while it is edited. */
  readonly draft?: Document | undefined;
}

/** How a panel stands: its items, several where it repeats. The answer before stays while it is asked anew. */
export interface PanelState {
  readonly isLoading: boolean;
  readonly items: readonly PanelItem[];
}

/** Panels that come into sight within so long are asked together. */
const gatherMs = 40;
/** While somebody types. */
const typedMs = 400;
const nothing: PanelState = { isLoading: false, items: [] };

/** The head of an answer. Where variables are as before they are the same array, for which nothing is drawn anew. */
const headOf = (line: Head, before: Head | undefined): Head =>
  before !== undefined && JSON.stringify(line.variables) === JSON.stringify(before.variables)
    ? { ...line, variables: before.variables }
    : line;

export class Board {
  readonly head = signal<Head | undefined>(undefined);
  readonly annotations = signal<readonly AnnotationItem[]>([]);
  readonly state = signal<QueryState<object>>({ isLoading: false });
  readonly #panels = new Map<string, Signal<PanelState>>();
  readonly #inSight = new Set<string>();
  #query: BoardQuery | undefined;
  /** Panels that were asked since the question changed. */
  #done = new Set<string>();
  #isHeadRequested = false;
  #cancel = new AbortController();
  #gathering: ReturnType<typeof setTimeout> | undefined;
  #running = 0;

  panel(id: string): Signal<PanelState> {
    const known = this.#panels.get(id);
    if (known !== undefined) return known;
    const made = signal(nothing);
    this.#panels.set(id, made);
    return made;
  }

  /** Asks everything in sight, and what comes into sight from now on. */
  run(query: BoardQuery): void {
    this.cancel();
    this.#query = query;
    this.#cancel = new AbortController();
    this.#done = new Set();
    this.#isHeadRequested = false;
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
      if (panel.peek().isLoading) panel.value = { ...panel.peek(), isLoading: false };
  }

  #gather(): void {
    if (this.#query === undefined || this.#gathering !== undefined) return;
    this.#gathering = setTimeout(
      () => {
        this.#gathering = undefined;
        this.#runQuery();
      },
      this.#query.draft === undefined ? gatherMs : typedMs,
    );
  }

  #runQuery(): void {
    if (this.#query === undefined) return;
    const panels = [...this.#inSight].filter((id) => !this.#done.has(id));
    for (const id of panels) {
      this.#done.add(id);
      const panel = this.panel(id);
      panel.value = { ...panel.peek(), isLoading: true };
    }
    // Asked with panels, only the variables that they use are answered.
    if (!this.#isHeadRequested) void this.#requestPanels([], this.#query);
    this.#isHeadRequested = true;
    if (panels.length > 0) void this.#requestPanels(panels, this.#query);
  }

  /** Asks panels; without any, variables and annotations. */
  async #requestPanels(panels: string[], { id, ...question }: BoardQuery): Promise<void> {
    const isHead = panels.length === 0;
    const sent = { params: { id }, body: { ...question, panels, annotations: isHead } };
    const { signal } = this.#cancel;
    this.#running++;
    const curl = asCurl(queryCall, sent);
    this.state.value = { ...this.state.peek(), isLoading: true, error: undefined, curl };
    const started = performance.now();
    const found = new Map<string, PanelItem[]>();
    const annotations: AnnotationItem[] = [];
    try {
      for await (const line of requestLines(queryCall, sent, signal)) {
        if (signal.aborted) return;
        if (!isHead || !('variables' in (line as DashboardLine)))
          this.#handleLine(line as DashboardLine, found, annotations);
        else this.head.value = headOf(line as Head, this.head.peek());
      }
    } catch (error) {
      if (!signal.aborted) this.#fail(error, panels);
      return;
    }
    if (signal.aborted) return;
    for (const one of panels) if (!found.has(one)) this.panel(one).value = nothing;
    if (isHead) this.#setAnnotations(annotations);
    this.#running--;
    const isLoading = this.#running > 0;
    const durationMs = performance.now() - started;
    this.state.value = { ...this.state.peek(), isLoading, answer: {}, answeredAt: Date.now(), durationMs };
  }

  /** Where there are none, as before, charts are not drawn anew for them. */
  #setAnnotations(annotations: readonly AnnotationItem[]): void {
    if (annotations.length + this.annotations.peek().length > 0) this.annotations.value = annotations;
  }

  #handleLine(line: DashboardLine, found: Map<string, PanelItem[]>, annotations: AnnotationItem[]): void {
    if ('annotation' in line) annotations.push(line.annotation);
    else if ('panelId' in line) {
      const items = [...(found.get(line.panelId) ?? []), line];
      found.set(line.panelId, items);
      this.panel(line.panelId).value = { isLoading: false, items };
    }
  }

  #fail(failed: unknown, panels: readonly string[]): void {
    this.#running--;
    const error =
      failed instanceof CallError
        ? failed
        : new CallError(`The page failed: ${String(failed)}`, { status: 0, code: 'INTERNAL' });
    for (const id of panels) this.panel(id).value = { ...this.panel(id).peek(), isLoading: false };
    this.state.value = { ...this.state.peek(), isLoading: false, error };
    const query = this.#query;
    if (error.retrySeconds === undefined || query === undefined) return;
    clearTimeout(this.#gathering);
    this.#gathering = setTimeout(() => {
      this.#gathering = undefined;
      this.run(query);
    }, error.retrySeconds * 1_000);
  }
}
