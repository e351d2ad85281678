/** Removes names from panel settings in a snapshot that its frozen results do not show. */
import type { FieldSettings } from '../../../schemas/dashboards/fields.ts';
import type { Panel } from '../document.ts';
import type { PanelItem } from '../query/dashboard-query.ts';

type Visual = Panel['visual'];
type Fields = ReturnType<typeof FieldSettings.parse>;

/** Kinds whose settings describe the organization or queries instead of the visualization. */
const kindsWithoutSettings: ReadonlySet<string> = new Set(['text', 'alerts', 'dashboards', 'placeholder']);

const isText = (value: unknown): value is string => typeof value === 'string';

/** Returns all names and texts in the results of a panel. */
export const collectVisibleTexts = ({ results, earlier, table, tables }: PanelItem): ReadonlySet<string> => {
  const allResults = [...Object.values(results), ...Object.values(earlier)];
  const series = allResults.flatMap((result) => result.series);
  const allTables = [...allResults, ...tables, ...(table === null ? [] : [table])];
  return new Set([
    ...series.flatMap(({ name, labels }) => [name, ...Object.values(labels)]),
    ...allTables.flatMap(({ columns, rows }) => [...columns.map(({ name }) => name), ...rows.flat().filter(isText)]),
  ]);
};

/** Returns the text that a literal pattern matches. */
const extractLiteral = (pattern: string): string =>
  pattern
    .replace(/^\^/, '')
    .replace(/\$$/, '')
    .replaceAll(/\\(\W)/g, '$1');

/** Returns the visualization of a panel, without names of fields that are not shown. */
export const redactVisual = (visual: Visual, visibleTexts: ReadonlySet<string>): Visual | { readonly kind: string } => {
  if (kindsWithoutSettings.has(visual.kind)) return { kind: visual.kind };
  const keepIfVisible = (name: string): string => (visibleTexts.has(name) ? name : '');
  switch (visual.kind) {
    case 'bars':
      return { ...visual, x: keepIfVisible(visual.x), colourBy: keepIfVisible(visual.colourBy) };
    case 'table': {
      const { sortBy, footer } = visual;
      return {
        ...visual,
        sortBy: sortBy.filter(({ field }) => visibleTexts.has(field)),
        footer: footer && { ...footer, fields: footer.fields.filter((field) => visibleTexts.has(field)) },
      };
    }
    case 'logs':
      return { ...visual, fields: visual.fields.filter((field) => visibleTexts.has(field)) };
    case 'node-graph':
      return { ...visual, arcs: visual.arcs.filter(({ field }) => visibleTexts.has(field)) };
    case 'stat':
    case 'gauge':
    case 'bar-gauge':
    case 'pie': {
      const { reduce } = visual;
      return {
        ...visual,
        reduce: { ...reduce, fields: visibleTexts.has(extractLiteral(reduce.fields)) ? reduce.fields : '' },
      };
    }
    default:
      return visual;
  }
};

const isNumeric = (text: string): boolean => text.trim() !== '' && !Number.isNaN(Number(text));

/** Returns the field settings, without mappings of texts that are not shown. */
export const redactFieldSettings = (
  { links: _, name: __, description: ___, ...fields }: Fields,
  visibleTexts: ReadonlySet<string>,
): Omit<Fields, 'links' | 'name' | 'description'> => {
  const { mappings, drawing } = fields;
  const shownMappings = mappings?.filter((mapping) => {
    if (mapping.kind === 'value') return isNumeric(mapping.value) || visibleTexts.has(mapping.value);
    return mapping.kind !== 'pattern' || visibleTexts.has(extractLiteral(mapping.pattern));
  });
  const areaTarget = drawing?.areaDownTo;
  const { areaDownTo: omittedAreaTarget, ...visibleDrawing } = drawing ?? {};
  return {
    ...fields,
    ...(shownMappings && { mappings: shownMappings }),
    ...(drawing && { drawing: areaTarget !== undefined && visibleTexts.has(areaTarget) ? drawing : visibleDrawing }),
  };
};
