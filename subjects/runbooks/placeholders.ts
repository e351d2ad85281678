/** Placeholders in PromQL of runbooks, such as `instance="<value of the instance label>"`, filled from labels of an alert */

/** A text in quotes, such as the value of a matcher */
const quotedPattern = /"[^"\\]*"/g;
const matcherOperators = ['=~', '!~', '!=', '='] as const;
/** `<pod>`, `{{ $labels.pod }}`, `${pod}`, `$pod` and `[[pod]]` */
const placeholderPattern =
  /<[^<>"]{1,120}>|\{\{[^{}"]{1,120}\}\}|\$\{\w{1,80}\}|\$(?!labels)[A-Za-z_]\w{0,79}|\[\[\w{1,80}\]\]/g;

export interface FilledExpression {
  readonly expression: string;
  /** Placeholders without a value, as written */
  readonly missing: readonly string[];
}

const toName = (text: string): string => text.toLowerCase().replace(/[^a-z0-9]+/g, '_');

/** Returns the label that a placeholder names: one in it, otherwise the label of its matcher. */
const findValue = (
  placeholder: string,
  label: string,
  valuesByName: ReadonlyMap<string, string>,
): string | undefined => {
  const named = placeholder.match(/[A-Za-z_][\w.]*/g) ?? [];
  const names = placeholder.startsWith('<') ? [label, ...named] : [...named, label];
  return names.map((name) => valuesByName.get(toName(name))).find((value) => value !== undefined);
};

const escapeForQuotes = (value: string): string => value.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n');
const escapeForRegex = (value: string): string => value.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Returns an expression with the placeholders of its matchers replaced by labels, and those that no label fills. */
export const fillPlaceholders = (expression: string, labels: Readonly<Record<string, string>>): FilledExpression => {
  const valuesByName = new Map(Object.entries(labels).map(([name, value]) => [toName(name), value]));
  const missing: string[] = [];
  const expressionParts: string[] = [];
  let end = 0;
  for (const { 0: quoted, index } of expression.matchAll(quotedPattern)) {
    const matcher = readMatcher(expression.slice(end, index));
    const text = quoted.slice(1, -1);
    const value =
      matcher === undefined
        ? text
        : text.replace(placeholderPattern, (placeholder) => {
            const boundValue = findValue(placeholder, matcher.label, valuesByName);
            if (boundValue === undefined) missing.push(placeholder);
            return boundValue === undefined
              ? placeholder
              : escapeForQuotes(matcher.isRegex ? escapeForRegex(boundValue) : boundValue);
          });
    expressionParts.push(expression.slice(end, index), `"${value}"`);
    end = index + quoted.length;
  }
  return { expression: [...expressionParts, expression.slice(end)].join(''), missing };
};

/** Returns the label before a value, and whether its operator matches a regular expression. */
const readMatcher = (before: string): { readonly label: string; readonly isRegex: boolean } | undefined => {
  const text = before.trimEnd();
  const operator = matcherOperators.find((each) => text.endsWith(each));
  if (operator === undefined) return undefined;
  const name = text.slice(0, -operator.length).trimEnd();
  let start = name.length;
  while (start > 0 && /[\w.]/.test(name[start - 1] as string)) start--;
  return { label: name.slice(start), isRegex: operator.includes('~') };
};
