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
} from '../../../subjects/dashboards/query/dashboard-query.ts';
import { toCurl } from '../../client/as-curl.ts';
import type { QueryState } from '../../client/query.ts';
import { CallError, requestLines } from '../../client/request.ts';
import { type Document, queryDashboardCall } from './calls.ts';

export type DashboardContext = Pick<DashboardResponse, 'from' | 'to' | 'variables'>;

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

/** Period in which newly visible panels are combined into one request, in milliseconds */
const batchDelayMs = 40;
/** Delay of a query after the last change of the draft, in milliseconds */
const draftDelayMs = 400;
const emptyPanelState: PanelState = { isLoading: false, items: [] };

/** Returns the first line of a response. Unchanged variables remain the same array to avoid rendering again. */
const reuseVariables = (line: DashboardContext, previousHead: DashboardContext | undefined): DashboardContext =>
  previousHead !== undefined && JSON.stringify(line.variables) === JSON.stringify(previousHead.variables)
    ? { ...line, variables: previousHead.variables }
    : line;

export class DashboardResults {
  readonly context = signal<DashboardContext | undefined>(undefined);
  readonly annotations = signal<readonly AnnotationItem[]>([]);
  readonly state = signal<QueryState<object>>({ isLoading: false });
  readonly #panels = new Map<string, Signal<PanelState>>();
  readonly #visiblePanels = new Set<string>();
  #query: BoardQuery | undefined;
  /** Panels requested since the last change of the query. */
  #requestedPanels = new Set<string>();
  #hasRequestedHead = false;
  #abortController = new AbortController();
  #requestTimer: ReturnType<typeof setTimeout> | undefined;
  #runningRequests = 0;

  getPanel(id: string): Signal<PanelState> {
    const existingPanel = this.#panels.get(id);
    if (existingPanel !== undefined) return existingPanel;
    const newPanel = signal(emptyPanelState);
    this.#panels.set(id, newPanel);
    return newPanel;
  }

  /** Last query; `undefined` before the first */
  get query(): BoardQuery | undefined {
    return this.#query;
  }

  /** Requests all visible panels, and those that become visible later. */
  run(query: BoardQuery): void {
    this.cancel();
    this.#query = query;
    this.#abortController = new AbortController();
    this.#requestedPanels = new Set();
    this.#hasRequestedHead = false;
    this.#scheduleRequest();
  }

  setPanelVisible(id: string, isVisible: boolean): void {
    if (isVisible) this.#visiblePanels.add(id);
    else this.#visiblePanels.delete(id);
    if (isVisible && !this.#requestedPanels.has(id)) this.#scheduleRequest();
  }

  cancel(): void {
    clearTimeout(this.#requestTimer);
    this.#requestTimer = undefined;
    this.#abortController.abort();
    this.#runningRequests = 0;
    for (const panel of this.#panels.values())
      if (panel.peek().isLoading) panel.value = { ...panel.peek(), isLoading: false };
  }

  #scheduleRequest(): void {
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
      const panel = this.getPanel(id);
      panel.value = { ...panel.peek(), isLoading: true };
    }
    // A request with panels only returns the variables that they use.
    if (!this.#hasRequestedHead) void this.#requestPanels([], this.#query);
    this.#hasRequestedHead = true;
    if (panels.length > 0) void this.#requestPanels(panels, this.#query);
  }

  /** Requests panels; without any, variables and annotations. */
  async #requestPanels(panels: string[], { id, ...queryBody }: BoardQuery): Promise<void> {
    const requestsContext = panels.length === 0;
    const request = { params: { id }, body: { ...queryBody, panels, annotations: requestsContext } };
    const { signal } = this.#abortController;
    this.#runningRequests++;
    const curl = toCurl(queryDashboardCall, request);
    this.state.value = { ...this.state.peek(), isLoading: true, error: undefined, curl };
    const startedAt = performance.now();
    const itemsByPanel = new Map<string, PanelItem[]>();
    const annotations: AnnotationItem[] = [];
    try {
      for await (const line of requestLines(queryDashboardCall, request, signal)) {
        if (signal.aborted) return;
        if (!requestsContext || !('variables' in (line as DashboardLine)))
          this.#handleLine(line as DashboardLine, itemsByPanel, annotations);
        else this.context.value = reuseVariables(line as DashboardContext, this.context.peek());
      }
    } catch (error) {
      if (!signal.aborted) this.#fail(error, panels);
      return;
    }
    if (signal.aborted) return;
    for (const panelId of panels) if (!itemsByPanel.has(panelId)) this.getPanel(panelId).value = emptyPanelState;
    if (requestsContext) this.#setAnnotations(annotations);
    this.#runningRequests--;
    const isLoading = this.#runningRequests > 0;
    const durationMs = performance.now() - startedAt;
    this.state.value = { ...this.state.peek(), isLoading, response: {}, respondedAt: Date.now(), durationMs };
  }

  /** Does not replace an empty list with another empty list, so that charts are not rendered again. */
  #setAnnotations(annotations: readonly AnnotationItem[]): void {
    if (annotations.length + this.annotations.peek().length > 0) this.annotations.value = annotations;
  }

  #handleLine(line: DashboardLine, itemsByPanel: Map<string, PanelItem[]>, annotations: AnnotationItem[]): void {
    if ('annotation' in line) annotations.push(line.annotation);
    else if ('panelId' in line) {
      const items = [...(itemsByPanel.get(line.panelId) ?? []), line];
      itemsByPanel.set(line.panelId, items);
      this.getPanel(line.panelId).value = { isLoading: false, items };
    }
  }

  #fail(cause: unknown, panels: readonly string[]): void {
    this.#runningRequests--;
    const error =
      cause instanceof CallError
        ? cause
        : new CallError(`The page cannot process the response: ${String(cause)}`, { status: 0, code: 'INTERNAL' });
    for (const id of panels) this.getPanel(id).value = { ...this.getPanel(id).peek(), isLoading: false };
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
