/** Converts one Grafana panel. A panel that cannot be drawn becomes a placeholder that stores the entire source. */
import { parseDuration, parseTime } from '../../../queries/time.ts';
import { type Fields, isFields } from '../../../runtime/fields.ts';
import { Panel } from '../document.ts';
import { panelDefaults } from './defaults.ts';
import { readOverrides, readSettings } from './fields.ts';
import type { PlacedPanel } from './layout.ts';
import { type Ledger, toFieldsList } from './ledger.ts';
import { getAtPath } from './lens.ts';
import { readLinks } from './links.ts';
import { readQueries, readStep } from './queries.ts';
import { renameInOverrides, renameInTransformations } from './query-renames.ts';
import type { Sources } from './sources.ts';
import { isPanelKey } from './strict.ts';
import { readTransformations } from './transformations.ts';
import { hasNoQueries, isKnownType, readVisual } from './visuals.ts';

export interface ConvertedPanel {
  readonly panel: Panel;
  readonly sourceType: string;
  readonly isPlaceholder: boolean;
}

const readDuration = (value: unknown): string | undefined => {
  const text = typeof value === 'string' ? value.replace(/^now-/, '') : '';
  return text !== '' && text.length <= 32 && parseDuration(text) !== undefined ? text : undefined;
};

/** Reads a duration, or a start such as `now/d`. */
const readPanelRange = (value: unknown): string | undefined =>
  readDuration(value) ??
  (typeof value === 'string' && value.startsWith('now/') && parseTime(value, 0) !== undefined ? value : undefined);

const readTime = (panel: Fields, ledger: Ledger): Fields => {
  const [range, shift] = [readPanelRange(panel['timeFrom']), readDuration(panel['timeShift'])];
  if (range !== undefined) ledger.carry(panel, 'timeFrom');
  if (shift !== undefined) ledger.carry(panel, 'timeShift');
  if (typeof panel['hideTimeOverride'] === 'boolean') ledger.carry(panel, 'hideTimeOverride');
  return {
    ...(range !== undefined && { range }),
    ...(shift !== undefined && { shift }),
    isHidden: panel['hideTimeOverride'] === true,
  };
};

/** Reads the fields that every panel has. */
const readSharedFields = (placed: PlacedPanel, id: string, ledger: Ledger): Fields => {
  const { panel, section, box, repeat } = placed;
  const { title, description, transparent, maxDataPoints } = panel;
  // The ID of the converted panel is derived from this one.
  ledger.carry(panel, 'id');
  ledger.drop(panel, 'pluginVersion', 'is the Grafana version that rendered it');
  if (typeof title === 'string' && title.length <= 512) ledger.carry(panel, 'title');
  if (typeof description === 'string' && description.length <= 8192) ledger.carry(panel, 'description');
  if (typeof transparent === 'boolean') ledger.carry(panel, 'transparent');
  const hasValidPoints =
    Number.isInteger(maxDataPoints) && (maxDataPoints as number) >= 1 && (maxDataPoints as number) <= 11_000;
  if (hasValidPoints) ledger.carry(panel, 'maxDataPoints');
  return {
    id,
    title: typeof title === 'string' ? title.slice(0, 512) : '',
    description: typeof description === 'string' ? description.slice(0, 8192) : '',
    place: { section, ...box },
    time: readTime(panel, ledger),
    ...(hasValidPoints && { maxDataPoints }),
    ...(repeat !== undefined && { repeat }),
    links: readLinks(panel['links'], ledger),
    transparent: transparent === true,
  };
};

const findUnsupportedReason = (panel: Fields, unsupportedTypes: readonly string[]): string | undefined => {
  const { type, libraryPanel, targets } = panel;
  if (isFields(libraryPanel)) return 'it is a library panel, which the document does not contain';
  if (!isKnownType(type)) return `the panel type ${String(type).slice(0, 128)} is not supported`;
  if (unsupportedTypes.length > 0 && unsupportedTypes.length === toFieldsList(targets).length)
    return `its queries are not supported: ${[...new Set(unsupportedTypes)].join(', ').slice(0, 512)}`;
  return undefined;
};

const createPlaceholder = (
  fields: Fields,
  panel: Fields,
  reason: string,
  unsupportedTypes: readonly string[],
  queryTexts: readonly string[],
) => ({
  ...fields,
  visual: {
    kind: 'placeholder',
    sourceType: String(
      isKnownType(panel['type']) ? (unsupportedTypes[0] ?? panel['type']) : (panel['type'] ?? 'unknown'),
    ).slice(0, 256),
    reason,
    queries: queryTexts.slice(0, 100),
  },
});

const readQueryTexts = (panel: Fields): string[] =>
  toFieldsList(panel['targets']).flatMap((target) => {
    const [text] = ['expr', 'query', 'rawSql'].map((key) => target[key]).filter((one) => typeof one === 'string');
    return typeof text === 'string' ? [text.slice(0, 65_536)] : [];
  });

/** Builds the complete panel from its parts, and marks them. */
const convertPanel = (
  fields: Fields,
  panel: Fields,
  queries: ReturnType<typeof readQueries>,
  ledger: Ledger,
): Fields => {
  const minStep = queries.queries.length > 0 ? readStep(panel['interval']) : undefined;
  return {
    ...fields,
    visual: readVisual(panel, ledger),
    queries: queries.queries,
    formulas: queries.formulas,
    transformations: renameInTransformations(readTransformations(panel['transformations'], ledger), queries.renamed),
    fields: readSettings(getAtPath(panel, ['fieldConfig', 'defaults']) ?? {}, ledger),
    overrides: renameInOverrides(readOverrides(panel['fieldConfig'], ledger), queries.renamed),
    ...(minStep !== undefined && { minStep }),
  };
};

/** Adds the source fields without an equivalent to the panel. */
const addSourceFields = (panel: Fields, source: Fields, ledger: Ledger): Fields => {
  const sourceFields = ledger.collectUnmarked(source);
  return Object.keys(sourceFields).length === 0
    ? panel
    : { ...panel, imported: { from: 'grafana', unmapped: sourceFields } };
};

/**
 * Disables the code that zod generates for each object: it would be generated for the first panel of a thread, and an
 * import is nearly always among the first of its thread.
 */
const parseOptions = { jitless: true } as const;

/** Converts a panel; `id` is its new ID. */
export const readPanel = (placed: PlacedPanel, id: string, sources: Sources, ledger: Ledger): ConvertedPanel => {
  const { panel, preservedSource: sourceFields } = placed;
  const sourceType = String(sourceFields['type'] ?? 'unknown').slice(0, 256);
  const readResult = hasNoQueries(panel['type'])
    ? { queries: [], formulas: [], renamed: new Map<string, string>(), foreign: [], texts: [] }
    : readQueries(panel, sources, ledger);
  let reason = findUnsupportedReason(panel, readResult.foreign);
  if (hasNoQueries(panel['type']) || !Array.isArray(panel['targets']))
    for (const key of ['datasource', 'targets']) ledger.drop(panel, key, 'is not used by a panel without queries');
  if (reason === undefined) {
    dropLegacyFields(sourceFields, panel, ledger);
    const convertedPanel = convertPanel(readSharedFields(placed, id, ledger), panel, readResult, ledger);
    markDefaults(panel, sourceFields, ledger);
    const parsed = Panel.safeParse(addSourceFields(convertedPanel, sourceFields, ledger), parseOptions);
    if (parsed.success) return { panel: parsed.data, sourceType, isPlaceholder: false };
    const [issue] = parsed.error.issues;
    reason = `${issue?.path.map(String).join('.')}: ${issue?.message}`.slice(0, 1024);
  }
  ledger.clearMarks(panel);
  ledger.clearMarks(sourceFields);
  const fields = readSharedFields(placed, id, ledger);
  for (const key of ['gridPos', 'span', 'repeat', 'repeatDirection', 'maxPerRow']) ledger.carry(sourceFields, key);
  if (toFieldsList(panel['targets']).every(({ datasource }) => datasource !== undefined))
    ledger.drop(panel, 'datasource', 'is set in each of its queries');
  markDefaults(panel, sourceFields, ledger);
  const texts = readResult.texts.length > 0 ? readResult.texts : readQueryTexts(panel);
  const placeholder = addSourceFields(
    createPlaceholder(fields, panel, reason, readResult.foreign, texts),
    sourceFields,
    ledger,
  );
  return { panel: Panel.parse(placeholder, parseOptions), sourceType, isPlaceholder: true };
};

/** Reports fields of former versions that the current form drops. */
const dropLegacyFields = (source: Fields, panel: Fields, ledger: Ledger): void => {
  if (source !== panel) return;
  for (const key of Object.keys(source))
    if (!isPanelKey(key)) ledger.drop(source, key, 'belongs to an earlier version of Grafana and is no longer read');
};

const markDefaults = (panel: Fields, sourceFields: Fields, ledger: Ledger): void => {
  ledger.markDefaults(panel, panelDefaults);
  if (sourceFields !== panel) ledger.markDefaults(sourceFields, panelDefaults);
};
