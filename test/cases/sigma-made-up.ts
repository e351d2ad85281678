/** Synthetic rules, and the texts from which their values are built. */
import type { Random } from './random.ts';

export const words: readonly string[] = [
  'cmd.exe',
  'CMD',
  'net',
  'netsh',
  'power',
  'shell',
  'ab',
  'a',
  'Ünïcode',
  '5',
  '5.0',
  '42',
  '10.0.0.1',
  'c:\\x\\y',
  '%5e',
  '',
];
const modifiers = [
  '',
  '|contains',
  '|startswith',
  '|endswith',
  '|contains|all',
  '|cased',
  '|neq',
  '|re',
  '|windash|contains',
  '|exists',
];
const fields = ['f', 'g', 'EventID', 'a.b'];
export const pick = <Each>(random: Random, from: readonly Each[]): Each => from[random(from.length)] as Each;
const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

const madeValue = (random: Random, modifier: string): string => {
  if (modifier === '|exists') return String(random(2) === 0);
  const text = pick(random, words);
  if (modifier === '|re')
    return quoted(
      `${text.replaceAll(/[.\\%]/g, '\\$&')}${pick(random, ['', '.*', '+', '(net|cmd)', '[0-9]{1,2}'])}`.replace(
        /^\+/,
        'x+',
      ),
    );
  return quoted(random(4) === 0 ? `${text}*${pick(random, words)}` : text);
};

const itemOf = (random: Random): string => {
  const modifier = pick(random, modifiers);
  const values = Array.from({ length: 1 + random(3) }, () => madeValue(random, modifier));
  return `    ${pick(random, fields)}${modifier}: ${modifier === '|exists' ? values[0] : `[${values.join(', ')}]`}`;
};

const selectionOf = (random: Random): string => {
  if (random(6) === 0) return ` [${madeValue(random, '|contains')}, ${madeValue(random, '|contains')}]`;
  const items = new Map(
    Array.from({ length: 1 + random(3) }, () => itemOf(random)).map((item) => [item.split(':')[0], item]),
  );
  return `\n${[...items.values()].join('\n')}`;
};

/** The text of a rule. */
export const ruleOf = (random: Random): string => {
  const names = ['s1', 's2', 's3'];
  const selections = names.map((name) => `  ${name}:${selectionOf(random)}`).join('\n');
  const condition = pick(random, [
    's1',
    's1 and s2',
    's1 or s2',
    's1 and not s2',
    '1 of s*',
    'all of s*',
    'not s1',
    '(s1 or s2) and s3',
    's1 and 1 of s*',
  ]);
  return `title: made up\nlogsource: { category: test }\ndetection:\n${selections}\n  condition: ${condition}\n`;
};
