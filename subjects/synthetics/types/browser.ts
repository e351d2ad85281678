import { z } from 'zod';
import { regexOf } from '../../../queries/search/regex.ts';
import { assertionProblems, type Problem } from '../assertions.ts';
import { templateUses, textsIn } from '../templates.ts';
import { hostIn, urlProblem } from './address.ts';
import { BrowserStep } from './browser-steps.ts';
import { defineCheckType, problemsAt, type Target } from './definition.ts';
import { literalHost, problemsOf } from './socket-settings.ts';

/** Properties of the page, not of an element */
const ofPage: ReadonlySet<string> = new Set(['url', 'title']);

const readProblems = ({ target, read }: { readonly target: unknown; readonly read: string }): readonly Problem[] => {
  if (ofPage.has(read)) return target === null ? [] : [{ path: 'target', message: `must not be set for ${read}` }];
  return target === null ? [{ path: 'target', message: `is required for ${read}` }] : [];
};

/** Syntax in a selector that only Playwright supports. */
const isNoCss = (selector: string): boolean => selector.includes('>>');

const targetProblems = (step: BrowserStep): readonly Problem[] => {
  if (!('target' in step)) return [];
  const message = 'must be a CSS selector without >>';
  const wrong = step.frame.flatMap((one, at) =>
    typeof one === 'string' && isNoCss(one) ? [{ path: `frame.${at}`, message }] : [],
  );
  if (step.target === null)
    return step.frame.length === 0 ? [] : [{ path: 'frame', message: 'belongs to a target, which is not set' }];
  return step.target.by === 'css' && isNoCss(step.target.css) ? [...wrong, { path: 'target.css', message }] : wrong;
};

const stepProblems = (step: BrowserStep): readonly Problem[] => {
  const targets = targetProblems(step);
  if (step.action === 'goto') {
    const wrong = urlProblem(step.url, ['http', 'https']);
    const assertionErrors = problemsOf(step.assertions, ['status', 'duration', 'vital']);
    return [...(wrong === undefined ? [] : [{ path: 'url', message: wrong }]), ...assertionErrors];
  }
  if (step.action === 'expect') {
    const { operator, value, level } = step;
    // All values are texts, like those of records.
    const assertionErrors = assertionProblems({
      source: 'record',
      operator,
      level,
      ...(value !== undefined && { value }),
    });
    return [...targets, ...readProblems(step), ...assertionErrors];
  }
  if (step.action !== 'extract') return targets;
  const regex = step.pattern === null ? undefined : regexOf(step.pattern);
  const wrong =
    typeof regex === 'string'
      ? [{ path: 'pattern', message: `is not a valid regular expression (RE2): ${regex}` }]
      : [];
  return [...targets, ...readProblems(step), ...wrong];
};

/** Returns problems for values that no previous step extracts, and for a first step without a page. */
const orderProblems = (steps: readonly BrowserStep[]): readonly Problem[] => {
  const values = new Set<string>();
  const first =
    steps[0]?.action === 'goto' ? [] : [{ path: 'steps.0.action', message: 'must be goto in the first step' }];
  return [
    ...first,
    ...steps.flatMap((step, index) => {
      const missing = textsIn(step, `steps.${index}`).flatMap(({ path, text }) =>
        templateUses(text).flatMap((use) =>
          typeof use === 'string' || use.kind !== 'values' || values.has(use.name)
            ? []
            : [{ path, message: `uses the value ${use.name}, which no earlier step extracts` }],
        ),
      );
      if (step.action === 'extract') values.add(step.as);
      return missing;
    }),
  ];
};

/** A secret may only be used in a URL, or in a field of a page on its host. Elsewhere, pages could read it. */
const targetsOf = (steps: readonly BrowserStep[]): readonly Target[] => {
  let host: string | undefined;
  return steps.flatMap((step, index): Target[] => {
    const path = `steps.${index}`;
    if (step.action === 'goto') {
      host = hostIn(step.url);
      const { url, ...rest } = step;
      return [
        { path: `${path}.url`, host, texts: textsIn({ url }, path) },
        { path, host: undefined, texts: textsIn(rest, path) },
      ];
    }
    if (step.action !== 'fill') return [{ path, host: undefined, texts: textsIn(step, path) }];
    const { text, ...rest } = step;
    if (step.host !== null) host = literalHost(step.host);
    return [
      { path: `${path}.text`, host, texts: textsIn({ text }, path) },
      { path, host: undefined, texts: textsIn(rest, path) },
    ];
  });
};

export const browser = defineCheckType({
  type: 'browser',
  name: 'Browser',
  summary: 'Steps in a page that a user would perform in Chromium.',
  minEvery: '1m',
  settings: z.strictObject({
    steps: z.array(BrowserStep).min(1).max(40),
    viewport: z
      .strictObject({
        width: z.int().min(320).max(3840).default(1280),
        height: z.int().min(240).max(2160).default(720),
      })
      .prefault({}),
    verifyCertificate: z.boolean().default(true),
  }),
  phases: ['wait'],
  problems: ({ steps }) => [
    ...steps.flatMap((step, index) => problemsAt(`steps.${index}`, stepProblems(step))),
    ...orderProblems(steps),
  ],
  targets: ({ steps }) => targetsOf(steps),
});
