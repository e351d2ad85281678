/** Removes names from panel settings in a snapshot that its frozen results do not show. */
import type { FieldSettings } from '../../../schemas/dashboards/fields.ts';
import type { Panel } from '../document.ts';
import type { PanelItem } from '../query/question.ts';

type Visual = Panel['visual'];
type Fields = ReturnType<typeof FieldSettings.parse>;

/** Kinds whose settings describe the organization or queries instead of the visualization. */
const kindsWithoutSettings: ReadonlySet<string> = new Set(['text', 'alerts', 'dashboards', 'placeholder']);

const isText = (value: unknown): value is string => typeof value === 'string';

/** Returns all names and texts in the results of a panel. */
export const collectVisibleTexts = ({ results, earlier, table, tables }: PanelItem): ReadonlySet<string> => {
  const answers = [...Object.values(results), ...Object.values(earlier)];
  const series = answers.flatMap((answer) => answer.series);
  const all = [...answers, ...tables, ...(table === null ? [] : [table])];
  return new Set([
    ...series.flatMap(({ name, labels }) => [name, ...Object.values(labels)]),
    ...all.flatMap(({ columns, rows }) => [...columns.map(({ name }) => name), ...rows.flat().filter(isText)]),
  ]);
};

/** Returns the text that a literal pattern matches. */
const literalPattern = (pattern: string): string =>
  pattern
    .replace(/^\^/, '')
    .replace(/\$$/, '')
    .replaceAll(/\\(\W)/g, '$1');

/** Returns the visualization of a panel, without names of fields that are not shown. */
export const redactVisual = (visual: Visual, shown: ReadonlySet<string>): Visual | { readonly kind: string } => {
  if (kindsWithoutSettings.has(visual.kind)) return { kind: visual.kind };
  const visibleOrEmpty = (name: string): string => (shown.has(name) ? name : '');
  switch (visual.kind) {
    case 'bars':
      return { ...visual, x: visibleOrEmpty(visual.x), colourBy: visibleOrEmpty(visual.colourBy) };
    case 'table': {
      const { sortBy, footer } = visual;
      return {
        ...visual,
        sortBy: sortBy.filter(({ field }) => shown.has(field)),
        footer: footer && { ...footer, fields: footer.fields.filter((field) => shown.has(field)) },
      };
    }
    case 'logs':
      return { ...visual, fields: visual.fields.filter((field) => shown.has(field)) };
    case 'node-graph':
      return { ...visual, arcs: visual.arcs.filter(({ field }) => shown.has(field)) };
    case 'stat':
    case 'gauge':
    case 'bar-gauge':
    case 'pie': {
      const { reduce } = visual;
      return {
        ...visual,
        reduce: { ...reduce, fields: shown.has(literalPattern(reduce.fields)) ? reduce.fields : '' },
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
  shown: ReadonlySet<string>,
): Omit<Fields, 'links' | 'name' | 'description'> => {
  const { mappings, drawing } = fields;
  const shownMappings = mappings?.filter((mapping) => {
    if (mapping.kind === 'value') return isNumeric(mapping.value) || shown.has(mapping.value);
    return mapping.kind !== 'pattern' || shown.has(literalPattern(mapping.pattern));
  });
  const downTo = drawing?.areaDownTo;
  const { areaDownTo: ____, ...visibleDrawing } = drawing ?? {};
  return {
    ...fields,
    ...(shownMappings && { mappings: shownMappings }),
    ...(drawing && { drawing: downTo !== undefined && shown.has(downTo) ? drawing : visibleDrawing }),
  };
};
