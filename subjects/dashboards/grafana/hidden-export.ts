/**
 * Transfers the data of a dashboard that Grafana's form lacks. An export stores it in a hidden variable; an import uses
 * it for parts of the dashboard that were not changed in Grafana.
 */
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { type Fields, isFields } from '../../../runtime/fields.ts';
import type { DashboardFields, Panel } from '../document.ts';

/** Name of the variable. */
export const hiddenVariableName = 'oiq_travelling';

interface Part {
  /** Hash of the data in Grafana's form. */
  readonly of: string;
  readonly is: unknown;
}

const hashPart = (value: unknown): string =>
  createHash('sha256').update(canonicalJson(value)).digest('hex').slice(0, 16);
/** Returns a value as JSON with sorted keys, because Grafana changes the key order. */
const canonicalJson = (value: unknown): string =>
  JSON.stringify(value, (_, member: unknown) =>
    isFields(member)
      ? Object.fromEntries(Object.entries(member).toSorted(([left], [right]) => (left < right ? -1 : 1)))
      : member,
  ) ?? 'null';

const restoreIds = (document: DashboardFields, ids: Fields, sections: Fields): DashboardFields => {
  const toOriginalId = (id: string): string => (typeof ids[id] === 'string' ? ids[id] : id);
  const toOriginalSection = (id: string | null): string | null =>
    id !== null && typeof sections[id] === 'string' ? sections[id] : id;
  return {
    ...document,
    sections: document.sections.map((section) => ({
      ...section,
      id: toOriginalSection(section.id) ?? section.id,
      within: toOriginalSection(section.within),
    })),
    panels: document.panels.map((panel) => ({
      ...panel,
      id: toOriginalId(panel.id),
      place: { ...panel.place, section: toOriginalSection(panel.place.section) },
    })),
    annotations: document.annotations.map((annotation) =>
      annotation.panels === null
        ? annotation
        : { ...annotation, panels: { ...annotation.panels, ids: annotation.panels.ids.map(toOriginalId) } },
    ),
  };
};

const omitPanels = (document: DashboardFields): Fields => {
  const { panels: _, ...rest } = document;
  return rest;
};

/**
 * Returns the data that must be exported so that `read`, the import of the export, becomes the original document;
 * undefined if there is none. `ids` and `sections` map the IDs of an import to the original ones.
 */
export const selectDataToExport = (
  document: DashboardFields,
  imported: DashboardFields,
  { ids, sections }: { readonly ids: Fields; readonly sections: Fields },
): object | undefined => {
  const readWithOriginalIds = restoreIds(imported, ids, sections);
  const readPanels = new Map(readWithOriginalIds.panels.map((panel) => [panel.id, panel]));
  const panels = document.panels.flatMap((panel): [string, Part][] => {
    const readPanel = readPanels.get(panel.id);
    return isDeepStrictEqual(panel, readPanel) ? [] : [[panel.id, { of: hashPart(readPanel), is: panel }]];
  });
  const others = omitPanels(readWithOriginalIds);
  const originalRest = omitPanels(document);
  const rest = [...new Set([...Object.keys(originalRest), ...Object.keys(others)])].flatMap((key): [string, Part][] =>
    isDeepStrictEqual(originalRest[key], others[key])
      ? []
      : [[key, { of: hashPart(others[key]), is: originalRest[key] ?? null }]],
  );
  const order = document.panels.map(({ id }) => id);
  const parts = {
    ids: selectChangedNames(ids),
    sections: selectChangedNames(sections),
    panels: Object.fromEntries(panels),
    rest: Object.fromEntries(rest),
    ...(!isDeepStrictEqual(
      order,
      readWithOriginalIds.panels.map(({ id }) => id),
    ) && { order }),
  };
  return Object.values(parts).every((part) => Object.keys(part).length === 0) ? undefined : parts;
};
const selectChangedNames = (names: Fields): Fields =>
  Object.fromEntries(Object.entries(names).filter(([importedId, originalId]) => importedId !== originalId));

const findPart = (parts: unknown, key: string): Part | undefined => {
  const part = isFields(parts) && Object.hasOwn(parts, key) ? parts[key] : undefined;
  return isFields(part) && typeof part['of'] === 'string' ? (part as unknown as Part) : undefined;
};

const restoreOrder = (panels: readonly Panel[], order: unknown): readonly Panel[] => {
  if (!Array.isArray(order)) return panels;
  const positions = new Map(order.map((id, index) => [String(id), index]));
  return panels.toSorted((left, right) => (positions.get(left.id) ?? Infinity) - (positions.get(right.id) ?? Infinity));
};

/** Merges imported data with the stored data of unchanged parts. Validate the result. */
export const mergeHiddenData = (imported: DashboardFields, text: string): unknown => {
  let parts: unknown;
  try {
    parts = JSON.parse(text);
  } catch {
    return imported;
  }
  if (!isFields(parts)) return imported;
  const { ids, sections, panels, rest, order } = parts;
  const restored = restoreIds(imported, isFields(ids) ? ids : {}, isFields(sections) ? sections : {});
  const others = Object.entries(isFields(rest) ? rest : {}).flatMap(([key]) => {
    const part = findPart(rest, key);
    return part !== undefined && part.of === hashPart(omitPanels(restored)[key])
      ? [[key, part.is ?? undefined] as const]
      : [];
  });
  return {
    ...restored,
    ...Object.fromEntries(others),
    panels: restoreOrder(restored.panels, order).map((panel) => {
      const part = findPart(panels, panel.id);
      return part !== undefined && part.of === hashPart(panel) ? part.is : panel;
    }),
  };
};
