/** Conversion of annotations, in both directions. */

import { type Fields, isFields } from '../../../runtime/fields.ts';
import type { DashboardFields } from '../document.ts';
import { colour } from './fields.ts';
import type { Ledger } from './ledger.ts';
import { flag, type Lens, readLenses, text } from './lens.ts';
import { guessSource, type Sources } from './sources.ts';

type Annotation = DashboardFields['annotations'][number];

const sourceLenses: readonly Lens[] = [
  ['expr', 'expression', text(16_384)],
  ['step', 'step', text(32)],
  ['titleFormat', 'title', text()],
  ['textFormat', 'text', text()],
  ['tagKeys', 'tags', text()],
  [
    'useValueForTime',
    'valueIsTime',
    { read: (value) => (value === 'on' ? true : flag.read(value)), write: flag.write },
  ],
];

/** Returns whether it is the annotation that Grafana adds to every dashboard. */
export const isBuiltIn = ({ builtIn }: Fields): boolean => builtIn === 1 || builtIn === true;

const readPanelFilter = (filter: unknown, ledger: Ledger): object | null => {
  if (!isFields(filter) || !Array.isArray(filter['ids'])) return null;
  const ids = filter['ids'].filter((id) => Number.isInteger(id));
  if (ids.length === 0 && filter['exclude'] !== true) return null;
  ledger.carry(filter, 'exclude', 'ids');
  return { mode: filter['exclude'] === true ? 'except' : 'only', ids: ids.map((id) => `panel-${id}`) };
};

/** Converts an annotation of Grafana; undefined if there is no equivalent. */
export const readAnnotation = (annotation: Fields, sources: Sources, ledger: Ledger): object | undefined => {
  const source = sources.findKind(annotation['datasource']);
  const { name, expr, enable, hide, iconColor } = annotation;
  if (source !== 'metrics' && (source !== 'unknown' || guessSource(annotation) !== 'metrics')) return undefined;
  if (typeof name !== 'string' || name === '' || typeof expr !== 'string' || expr === '') return undefined;
  const annotationColour = colour.read(iconColor);
  ledger.carry(
    annotation,
    'name',
    'enable',
    'hide',
    'datasource',
    ...(annotationColour === undefined ? [] : ['iconColor']),
  );
  return {
    name: name.slice(0, 256),
    enabled: enable !== false,
    hidden: hide === true,
    ...(annotationColour !== undefined && { colour: annotationColour }),
    source: { kind: 'promql', ...readLenses(sourceLenses, annotation, ledger) },
    panels: readPanelFilter(annotation['filter'], ledger),
  };
};

const findPanelNumbers = (id: string, ids: ReadonlyMap<string, number>): number[] => {
  const panelNumber = ids.get(id);
  return panelNumber === undefined ? [] : [panelNumber];
};

/** Converts an annotation for Grafana; undefined if Grafana has no equivalent. */
export const writeAnnotation = (
  { name, enabled, hidden, colour: iconColor, source, panels }: Annotation,
  datasource: object,
  ids: ReadonlyMap<string, number>,
): Record<string, unknown> | undefined =>
  source.kind !== 'promql'
    ? undefined
    : {
        name,
        enable: enabled,
        iconColor,
        datasource,
        ...(hidden && { hide: true }),
        // Grafana's schema has only the expression; the other settings are stored in the hidden variable.
        expr: source.expression,
        ...(panels !== null && {
          filter: { exclude: panels.mode === 'except', ids: panels.ids.flatMap((id) => findPanelNumbers(id, ids)) },
        }),
      };
