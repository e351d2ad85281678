/**
 * Results of a dashboard. Only visible panels are queried, several in one call, and each is displayed when its line
 * arrives.
 */
import { type Signal, signal } from '@preact/signals';
import type {
  AnnotationItem,
  DashboardLine,
  DashboardResponse,
  PanelItem,
} from '../../../subjects/dashboards/query/question.ts';
import { toCurl } from '../../client/as-curl.ts';
import type { QueryState } from '../../client/query.ts';
import { CallError, requestLines } from '../../client/request.ts';
import { type Document, queryCall } from './calls.ts';

export type DashboardHead = Pick<DashboardResponse, 'from' | 'to' | 'variables'>;

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
const batchDelayMs = 40;
/** Delay of a query after the last change of the draft, in milliseconds */
const draftDelayMs = 400;
const emptyPanelState: PanelState = { isLoading: false, items: [] };

/** Returns the head of a response. Unchanged variables remain the same array, so that nothing is rendered again. */
const reuseVariables = (line: DashboardHead, before: DashboardHead | undefined): DashboardHead =>
  before !== undefined && JSON.stringify(line.variables) === JSON.stringify(before.variables)
    ? { ...line, variables: before.variables }
    : line;

export class DashboardResults {
  readonly head = signal<DashboardHead | undefined>(undefined);
  readonly annotations = signal<readonly AnnotationItem[]>([]);
  readonly state = signal<QueryState<object>>({ isLoading: false });
  readonly #panels = new Map<string, Signal<PanelState>>();
  readonly #visiblePanels = new Set<string>();
  #query: BoardQuery | undefined;
  /** Panels requested since the last change of the query. */
  #requestedPanels = new Set<string>();
  #isHeadRequested = false;
  #abortController = new AbortController();
  #requestTimer: ReturnType<typeof setTimeout> | undefined;
  #running = 0;

  panel(id: string): Signal<PanelState> {
    const known = this.#panels.get(id);
    if (known !== undefined) return known;
    const made = signal(emptyPanelState);
    this.#panels.set(id, made);
    return made;
  }

  /** Requests all visible panels, and those that become visible later. */
  run(query: BoardQuery): void {
    this.cancel();
    this.#query = query;
    this.#abortController = new AbortController();
    this.#requestedPanels = new Set();
    this.#isHeadRequested = false;
    this.#gather();
  }

  see(id: string, isInSight: boolean): void {
    if (isInSight) this.#visiblePanels.add(id);
    else this.#visiblePanels.delete(id);
    if (isInSight && !this.#requestedPanels.has(id)) this.#gather();
  }

  cancel(): void {
    clearTimeout(this.#requestTimer);
    this.#requestTimer = undefined;
    this.#abortController.abort();
    this.#running = 0;
    for (const panel of this.#panels.values())
      if (panel.peek().isLoading) panel.value = { ...panel.peek(), isLoading: false };
  }

  #gather(): void {
    if (this.#query === undefined || this.#requestTimer !== undefined) return;
    this.#requestTimer = setTimeout(
      () => {
        this.#requestTimer = undefined;
        this.#runQuery();
      },
      this.#query.draft === undefined ? batchDelayMs : draftDelayMs,
    );
  }

  #runQuery(): void {
    if (this.#query === undefined) return;
    const panels = [...this.#visiblePanels].filter((id) => !this.#requestedPanels.has(id));
    for (const id of panels) {
      this.#requestedPanels.add(id);
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
    const { signal } = this.#abortController;
    this.#running++;
    const curl = toCurl(queryCall, sent);
    this.state.value = { ...this.state.peek(), isLoading: true, error: undefined, curl };
    const started = performance.now();
    const found = new Map<string, PanelItem[]>();
    const annotations: AnnotationItem[] = [];
    try {
      for await (const line of requestLines(queryCall, sent, signal)) {
        if (signal.aborted) return;
        if (!isHead || !('variables' in (line as DashboardLine)))
          this.#handleLine(line as DashboardLine, found, annotations);
        else this.head.value = reuseVariables(line as DashboardHead, this.head.peek());
      }
    } catch (error) {
      if (!signal.aborted) this.#fail(error, panels);
      return;
    }
    if (signal.aborted) return;
    for (const one of panels) if (!found.has(one)) this.panel(one).value = emptyPanelState;
    if (isHead) this.#setAnnotations(annotations);
    this.#running--;
    const isLoading = this.#running > 0;
    const durationMs = performance.now() - started;
    this.state.value = { ...this.state.peek(), isLoading, response: {}, respondedAt: Date.now(), durationMs };
  }

  /** Does not replace an empty list with another empty list, so that charts are not rendered again. */
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
    clearTimeout(this.#requestTimer);
    this.#requestTimer = setTimeout(() => {
      this.#requestTimer = undefined;
      this.run(query);
    }, error.retrySeconds * 1_000);
  }
}
