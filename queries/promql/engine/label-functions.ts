import type { RE2JS } from 're2js';
import { PromqlExecutionError } from '../syntax/errors.ts';
import { compileAnchoredRegex } from '../syntax/matchers.ts';
import type { Call, Expression } from '../syntax/tree.ts';
import type { Evaluation } from './context.ts';
import { mergeRows, type Row } from './rows.ts';

const readString = (node: Expression | undefined): string => (node?.kind === 'string' ? node.value : '');

const requireValidName = (name: string, role: string): string => {
  if (name === '' || !name.isWellFormed()) throw new PromqlExecutionError(`invalid ${role}: ${name}`);
  return name;
};

/** Parts of a template: `$name` includes all following letters, digits and underscores. */
const templatePattern = /\$(?:\$|(\w+)|\{(\w+)\})|[^$]+|\$/g;

/** Expands a template with the groups of a match, by number and name. */
const expandTemplate = (
  template: string,
  groups: readonly (string | undefined)[],
  names: Readonly<Record<string, number>>,
): string[] =>
  Array.from(template.matchAll(templatePattern), ([token, plainName, bracedName]) => {
    const name = plainName ?? bracedName;
    if (name === undefined) return token === '$$' ? '$' : token;
    const number = /^\d+$/.test(name) ? Number(name) : names[name];
    return number === undefined ? '' : (groups[number] ?? '');
  });

const compileRegex = (source: string): RE2JS => {
  try {
    return compileAnchoredRegex(source);
  } catch {
    throw new PromqlExecutionError(`invalid regular expression in label_replace(): ${source}`);
  }
};

/** Returns the row with a label built from these texts. */
const setLabel = (
  { counts }: Evaluation,
  row: Row,
  label: string,
  { texts, separator = '' }: { readonly texts: readonly string[]; readonly separator?: string },
): Row => {
  const characters = texts.reduce((sum, text) => sum + text.length + separator.length, 0) - separator.length;
  counts.reserveLabel(label, characters);
  return row.withLabels(
    row.labels.with(label, texts.join(separator)),
    label === '__name__' ? false : row.shouldDropName,
  );
};

/** `label_replace(v, dst, replacement, src, regex)`. */
export const evaluateLabelReplace = (evaluation: Evaluation, { args }: Call): Row[] => {
  const [target, replacement, source, pattern] = args.slice(1).map(readString) as [string, string, string, string];
  const regex = compileRegex(pattern);
  requireValidName(target, 'destination label name in label_replace()');
  const rows: Row[] = [];
  for (const row of evaluation.vector(args[0] as Expression)) {
    const match = regex.matcher(row.labels.get(source));
    if (!match.find()) {
      rows.push(row);
      continue;
    }
    const groups = Array.from(
      { length: match.groupCount() + 1 },
      (_, groupIndex) => match.group(groupIndex) ?? undefined,
    );
    rows.push(setLabel(evaluation, row, target, { texts: expandTemplate(replacement, groups, regex.namedGroups()) }));
  }
  return mergeRows(rows);
};

/** `label_join(v, dst, separator, src…)`. */
export const evaluateLabelJoin = (evaluation: Evaluation, { args }: Call): Row[] => {
  const [target, separator, ...sources] = args.slice(1).map(readString) as [string, string, ...string[]];
  for (const source of sources) requireValidName(source, 'source label name in label_join()');
  requireValidName(target, 'destination label name in label_join()');
  const rows: Row[] = [];
  for (const row of evaluation.vector(args[0] as Expression))
    rows.push(
      setLabel(evaluation, row, target, {
        texts: sources.map((source) => row.labels.get(source)),
        separator,
      }),
    );
  return mergeRows(rows);
};
