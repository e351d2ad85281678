/** A dashboard while it is edited: the opened version and the draft */
import { computed, signal } from '@preact/signals';
import type { CallError } from '../../../client/request.ts';
import type { Dashboard, Document, Panel } from '../calls.ts';
import { toDocument } from '../calls.ts';
import { gridColumns, type Rectangle, rearrange } from '../rearrange.ts';

/** Incremented after a save, which reloads the open dashboard */
export const saveCount = signal(0);
export const notifySaved = (): void => {
  saveCount.value++;
};

const generatePanelId = (panels: readonly Panel[]): string => {
  const usedIds = new Set(panels.map(({ id }) => id));
  let number = panels.length + 1;
  while (usedIds.has(`panel-${number}`)) number++;
  return `panel-${number}`;
};

/** Maximum number of edits that can be undone */
const maxUndoSteps = 100;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

/** Returns the path of the only changed value, or of the innermost value that contains all changes. */
export const findChangedPath = (before: unknown, after: unknown): string => {
  if (!isObject(before) || !isObject(after)) return '';
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (name) => before[name] !== after[name],
  );
  const [name] = names;
  return name === undefined || names.length > 1 ? '' : `${name}/${findChangedPath(before[name], after[name])}`;
};

/** Returns a place for a new panel: beside the last panel if there is room, otherwise below all panels. */
export const findPlace = (places: readonly Rectangle[], size: Pick<Rectangle, 'width' | 'height'>): Rectangle => {
  const bottom = Math.max(0, ...places.map(({ y, height }) => y + height));
  const last = places.reduce<Rectangle | undefined>(
    (found, place) =>
      found === undefined || place.y > found.y || (place.y === found.y && place.x > found.x) ? place : found,
    undefined,
  );
  const nextPlace = { ...size, x: (last?.x ?? 0) + (last?.width ?? 0), y: last?.y ?? 0 };
  const isFree =
    last !== undefined &&
    nextPlace.x + nextPlace.width <= gridColumns &&
    places.every((place) => place.y + place.height <= nextPlace.y || place.x + place.width <= nextPlace.x);
  return isFree ? nextPlace : { ...size, x: 0, y: bottom };
};

export class DashboardDraft {
  /** `undefined` while nothing is edited */
  readonly draft = signal<Document | undefined>(undefined);
  /** The opened document and its version */
  readonly base = signal<{ readonly document: Document; readonly version: number } | undefined>(undefined);
  /** Why the last attempt to save was rejected */
  readonly saveError = signal<CallError | undefined>(undefined);
  readonly hasChanged = computed(
    () =>
      this.draft.value !== undefined && JSON.stringify(this.draft.value) !== JSON.stringify(this.base.value?.document),
  );

  /** Drafts before each edit, and drafts after the edits that were undone */
  readonly #undoSteps = signal<readonly Document[]>([]);
  readonly #redoSteps = signal<readonly Document[]>([]);
  #lastEdit = '';
  readonly canUndo = computed(() => this.#undoSteps.value.length > 0);
  readonly canRedo = computed(() => this.#redoSteps.value.length > 0);

  startEditing(dashboard: Dashboard): void {
    if (this.base.peek()?.version === dashboard.version && this.draft.peek() !== undefined) return;
    const document = toDocument(dashboard);
    this.base.value = { document, version: dashboard.version };
    this.draft.value = document;
    this.#forgetSteps();
  }

  stopEditing(): void {
    this.draft.value = undefined;
    this.saveError.value = undefined;
    this.base.value = undefined;
    this.#forgetSteps();
  }

  #forgetSteps(): void {
    this.#undoSteps.value = [];
    this.#redoSteps.value = [];
    this.#lastEdit = '';
  }

  /** Changes fields. Consecutive edits of the same value, or with the same name, are undone together. */
  updateDocument(fields: Partial<Document>, edit = ''): void {
    const document = this.draft.peek();
    if (document === undefined) return;
    const changed = { ...document, ...fields };
    const name = edit || findChangedPath(document, changed);
    if (name === '' || name !== this.#lastEdit)
      this.#undoSteps.value = [...this.#undoSteps.peek().slice(1 - maxUndoSteps), document];
    this.#lastEdit = name;
    this.#redoSteps.value = [];
    this.draft.value = changed;
  }

  /** Restores the draft before the last edit. */
  undo(): void {
    const document = this.draft.peek();
    const before = this.#undoSteps.peek().at(-1);
    if (document === undefined || before === undefined) return;
    this.#undoSteps.value = this.#undoSteps.peek().slice(0, -1);
    this.#redoSteps.value = [...this.#redoSteps.peek(), document];
    this.#lastEdit = '';
    this.draft.value = before;
  }

  /** Restores the draft before the last `undo`. */
  redo(): void {
    const document = this.draft.peek();
    const after = this.#redoSteps.peek().at(-1);
    if (document === undefined || after === undefined) return;
    this.#redoSteps.value = this.#redoSteps.peek().slice(0, -1);
    this.#undoSteps.value = [...this.#undoSteps.peek(), document];
    this.#lastEdit = '';
    this.draft.value = after;
  }

  findPanel(id: string): Panel | undefined {
    return this.draft.value?.panels.find((panel) => panel.id === id);
  }

  updatePanel(id: string, fields: Partial<Panel>): void {
    const { panels = [] } = this.draft.peek() ?? {};
    this.updateDocument({ panels: panels.map((panel) => (panel.id === id ? { ...panel, ...fields } : panel)) });
  }

  /** Adds a panel beside the last one, or below the others, and returns its id. */
  addPanel(template: Omit<Panel, 'id' | 'place'>, { section = null, ...size }: Partial<Panel['place']> = {}): string {
    const { panels = [] } = this.draft.peek() ?? {};
    const id = generatePanelId(panels);
    const places = panels.filter(({ place }) => place.section === section).map(({ place }) => place);
    const { x, y, width, height } = findPlace(places, { width: 12, height: 8, ...size });
    this.updateDocument({ panels: [...panels, { ...template, id, place: { x, y, width, height, section } }] });
    return id;
  }

  removePanel(id: string): void {
    const { panels = [] } = this.draft.peek() ?? {};
    this.updateDocument({ panels: panels.filter((panel) => panel.id !== id) });
  }

  /** Moves or resizes a panel within its section. */
  movePanel(id: string, rectangle: Rectangle): void {
    const { panels = [] } = this.draft.peek() ?? {};
    const section = panels.find((panel) => panel.id === id)?.place.section;
    const rectangles = rearrange(
      new Map(panels.filter(({ place }) => place.section === section).map((panel) => [panel.id, panel.place])),
      id,
      rectangle,
    );
    this.updateDocument(
      {
        panels: panels.map((panel) => {
          const { x, y, width, height } = rectangles.get(panel.id) ?? panel.place;
          return { ...panel, place: { ...panel.place, x, y, width, height } };
        }),
      },
      `move ${id}`,
    );
  }
}
