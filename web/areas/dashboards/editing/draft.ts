/** A dashboard while it is edited: the opened version and the draft */
import { computed, signal } from '@preact/signals';
import type { CallError } from '../../../client/request.ts';
import type { Dashboard, Document, Panel } from '../calls.ts';
import { toDocument } from '../calls.ts';
import { type Rectangle, rearrange } from '../rearranged.ts';

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

  startEditing(dashboard: Dashboard): void {
    if (this.base.peek()?.version === dashboard.version && this.draft.peek() !== undefined) return;
    const document = toDocument(dashboard);
    this.base.value = { document, version: dashboard.version };
    this.draft.value = document;
  }

  stopEditing(): void {
    this.draft.value = undefined;
    this.saveError.value = undefined;
    this.base.value = undefined;
  }

  updateDocument(fields: Partial<Document>): void {
    const document = this.draft.peek();
    if (document !== undefined) this.draft.value = { ...document, ...fields };
  }

  findPanel(id: string): Panel | undefined {
    return this.draft.value?.panels.find((panel) => panel.id === id);
  }

  updatePanel(id: string, fields: Partial<Panel>): void {
    const { panels = [] } = this.draft.peek() ?? {};
    this.updateDocument({ panels: panels.map((panel) => (panel.id === id ? { ...panel, ...fields } : panel)) });
  }

  /** Adds a panel below the others, and returns its id. */
  addPanel(template: Omit<Panel, 'id' | 'place'>, { section = null, ...size }: Partial<Panel['place']> = {}): string {
    const { panels = [] } = this.draft.peek() ?? {};
    const id = generatePanelId(panels);
    const bottom = Math.max(
      0,
      ...panels.filter(({ place }) => place.section === section).map(({ place }) => place.y + place.height),
    );
    const place = { width: 12, height: 8, ...size, x: 0, y: bottom, section };
    this.updateDocument({ panels: [...panels, { ...template, id, place }] });
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
    this.updateDocument({
      panels: panels.map((panel) => {
        const { x, y, width, height } = rectangles.get(panel.id) ?? panel.place;
        return { ...panel, place: { ...panel.place, x, y, width, height } };
      }),
    });
  }
}
