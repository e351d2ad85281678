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

const newPanelId = (panels: readonly Panel[]): string => {
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

  begin(dashboard: Dashboard): void {
    if (this.base.peek()?.version === dashboard.version && this.draft.peek() !== undefined) return;
    const document = toDocument(dashboard);
    this.base.value = { document, version: dashboard.version };
    this.draft.value = document;
  }

  end(): void {
    this.draft.value = undefined;
    this.saveError.value = undefined;
    this.base.value = undefined;
  }

  change(fields: Partial<Document>): void {
    const before = this.draft.peek();
    if (before !== undefined) this.draft.value = { ...before, ...fields };
  }

  panel(id: string): Panel | undefined {
    return this.draft.value?.panels.find((panel) => panel.id === id);
  }

  changePanel(id: string, fields: Partial<Panel>): void {
    const { panels = [] } = this.draft.peek() ?? {};
    this.change({ panels: panels.map((panel) => (panel.id === id ? { ...panel, ...fields } : panel)) });
  }

  /** Adds a panel below the others, and returns its id. */
  addPanel(template: Omit<Panel, 'id' | 'place'>, { section = null, ...size }: Partial<Panel['place']> = {}): string {
    const { panels = [] } = this.draft.peek() ?? {};
    const id = newPanelId(panels);
    const bottom = Math.max(
      0,
      ...panels.filter(({ place }) => place.section === section).map(({ place }) => place.y + place.height),
    );
    const place = { width: 12, height: 8, ...size, x: 0, y: bottom, section };
    this.change({ panels: [...panels, { ...template, id, place }] });
    return id;
  }

  removePanel(id: string): void {
    const { panels = [] } = this.draft.peek() ?? {};
    this.change({ panels: panels.filter((panel) => panel.id !== id) });
  }

  /** Moves or resizes a panel within its section. */
  placePanel(id: string, to: Rectangle): void {
    const { panels = [] } = this.draft.peek() ?? {};
    const section = panels.find((panel) => panel.id === id)?.place.section;
    const places = rearrange(
      new Map(panels.filter(({ place }) => place.section === section).map((panel) => [panel.id, panel.place])),
      id,
      to,
    );
    this.change({
      panels: panels.map((panel) => {
        const { x, y, width, height } = places.get(panel.id) ?? panel.place;
        return { ...panel, place: { ...panel.place, x, y, width, height } };
      }),
    });
  }
}
