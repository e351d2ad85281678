/**
 * Results of a dashboard. Only visible panels are queried, several in one call, and each is displayed when its line
 * arrives.
 */
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
  /** Draft that is queried instead of the saved dashboard while editing */
  readonly draft?: Document | undefined;
}

/** State of a panel: its items, several if it repeats. The previous result remains while a new one is loading. */
export interface PanelState {
  readonly isLoading: boolean;
  readonly items: readonly PanelItem[];
}

/** Time in which panels that become visible are combined into one request, in milliseconds */
const gatherMs = 40;
/** Debounce of typing, in milliseconds */
const typedMs = 400;
const nothing: PanelState = { isLoading: false, items: [] };

/** Returns the head of a response. Unchanged variables remain the same array, so that nothing is rendered again. */
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
  /** Panels requested since the last change of the query. */
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

  /** Requests all visible panels, and those that become visible later. */
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
    // A request with panels only returns the variables that they use.
    if (!this.#isHeadRequested) void this.#requestPanels([], this.#query);
    this.#isHeadRequested = true;
    if (panels.length > 0) void this.#requestPanels(panels, this.#query);
  }

  /** Requests panels; without any, variables and annotations. */
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

  /** If there are still none, charts are not rendered again. */
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
