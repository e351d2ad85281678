import { z } from 'zod';
import { compileRegex } from '../../../queries/search/regex.ts';
import { findAssertionProblems, type Problem } from '../assertions.ts';
import { listTexts, parseTemplateUses } from '../templates.ts';
import { findUrlProblem, parseHost } from './address.ts';
import { BrowserStep } from './browser-steps.ts';
import { defineCheckType, prefixPaths, type Target } from './definition.ts';
import { findProblems, parseLiteralHost } from './socket-settings.ts';

/** Properties of the page, not of an element */
const pageProperties: ReadonlySet<string> = new Set(['url', 'title']);

const findReadProblems = ({
  target,
  read,
}: {
  readonly target: unknown;
  readonly read: string;
}): readonly Problem[] => {
  if (pageProperties.has(read))
    return target === null ? [] : [{ path: 'target', message: `must not be set for ${read}` }];
  return target === null ? [{ path: 'target', message: `is required for ${read}` }] : [];
};

/** Returns whether a selector contains syntax that only Playwright supports. */
const isPlaywrightSelector = (selector: string): boolean => selector.includes('>>');

const findTargetProblems = (step: BrowserStep): readonly Problem[] => {
  if (!('target' in step)) return [];
  const message = 'must be a CSS selector without >>';
  const frameProblems = step.frame.flatMap((one, index) =>
    typeof one === 'string' && isPlaywrightSelector(one) ? [{ path: `frame.${index}`, message }] : [],
  );
  if (step.target === null)
    return step.frame.length === 0 ? [] : [{ path: 'frame', message: 'belongs to a target, which is not set' }];
  return step.target.by === 'css' && isPlaywrightSelector(step.target.css)
    ? [...frameProblems, { path: 'target.css', message }]
    : frameProblems;
};

const findStepProblems = (step: BrowserStep): readonly Problem[] => {
  const targetProblems = findTargetProblems(step);
  if (step.action === 'goto') {
    const urlProblem = findUrlProblem(step.url, ['http', 'https']);
    const assertionErrors = findProblems(step.assertions, ['status', 'duration', 'vital']);
    return [...(urlProblem === undefined ? [] : [{ path: 'url', message: urlProblem }]), ...assertionErrors];
  }
  if (step.action === 'expect') {
    const { operator, value, level } = step;
    // All values are strings, like those of DNS records.
    const assertionErrors = findAssertionProblems({
      source: 'record',
      operator,
      level,
      ...(value !== undefined && { value }),
    });
    return [...targetProblems, ...findReadProblems(step), ...assertionErrors];
  }
  if (step.action !== 'extract') return targetProblems;
  const regex = step.pattern === null ? undefined : compileRegex(step.pattern);
  const patternProblems =
    typeof regex === 'string'
      ? [{ path: 'pattern', message: `is not a valid regular expression (RE2): ${regex}` }]
      : [];
  return [...targetProblems, ...findReadProblems(step), ...patternProblems];
};

/** Returns problems for values that no previous step extracts, and for a first step without a page. */
const findOrderProblems = (steps: readonly BrowserStep[]): readonly Problem[] => {
  const values = new Set<string>();
  const firstStepProblems =
    steps[0]?.action === 'goto' ? [] : [{ path: 'steps.0.action', message: 'must be goto in the first step' }];
  return [
    ...firstStepProblems,
    ...steps.flatMap((step, index) => {
      const missingValueProblems = listTexts(step, `steps.${index}`).flatMap(({ path, text }) =>
        parseTemplateUses(text).flatMap((use) =>
          typeof use === 'string' || use.kind !== 'values' || values.has(use.name)
            ? []
            : [{ path, message: `uses the value ${use.name}, which no earlier step extracts` }],
        ),
      );
      if (step.action === 'extract') values.add(step.as);
      return missingValueProblems;
    }),
  ];
};

/** A secret may only be used in a URL, or in a field of a page on its host. Elsewhere, pages could read it. */
const listTargets = (steps: readonly BrowserStep[]): readonly Target[] => {
  let host: string | undefined;
  return steps.flatMap((step, index): Target[] => {
    const path = `steps.${index}`;
    if (step.action === 'goto') {
      host = parseHost(step.url);
      const { url, ...rest } = step;
      return [
        { path: `${path}.url`, host, texts: listTexts({ url }, path) },
        { path, host: undefined, texts: listTexts(rest, path) },
      ];
    }
    if (step.action !== 'fill') return [{ path, host: undefined, texts: listTexts(step, path) }];
    const { text, ...rest } = step;
    if (step.host !== null) host = parseLiteralHost(step.host);
    return [
      { path: `${path}.text`, host, texts: listTexts({ text }, path) },
      { path, host: undefined, texts: listTexts(rest, path) },
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
    ...steps.flatMap((step, index) => prefixPaths(`steps.${index}`, findStepProblems(step))),
    ...findOrderProblems(steps),
  ],
  targets: ({ steps }) => listTargets(steps),
});
