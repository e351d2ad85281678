/** Steps and viewport of a browser check */
import { CheckInput, ListInput, NumberInput, Options, SelectInput, TextInput } from '../../editors/inputs.tsx';
import { Assertions, hasNoOperand, LevelOptions } from './assertions.tsx';
import {
  type BrowserAction,
  type BrowserSettings,
  type BrowserStep,
  type BrowserTarget,
  browserActionTitles,
  browserOptionFields,
  browserStepFields,
  emptyBrowserSteps,
  targetKinds,
} from './browser-kinds.ts';
import { type FindProblem, SettingInputs, type SettingValues } from './setting-input.tsx';
import { type AssertionFields, operatorTitles } from './setting-kinds.ts';
import { StepList } from './step-list.tsx';

/** Properties of the page, which have no target */
const pageProperties: ReadonlySet<unknown> = new Set(['url', 'title']);

const createTarget = (by: BrowserTarget['by'], text: string): BrowserTarget =>
  (by === 'role' ? { by, role: 'button', name: text } : { by, [by]: text }) as BrowserTarget;

const getTargetText = (target: BrowserTarget): string =>
  target.by === 'role' ? (target.name ?? '') : String((target as unknown as SettingValues)[target.by]);

const TargetFields = ({
  target,
  path,
  findProblem,
  onChange,
}: {
  readonly target: BrowserTarget;
  readonly path: string;
  readonly findProblem: FindProblem;
  readonly onChange: (target: BrowserTarget) => void;
}) => {
  const { by } = target;
  const [, label] = targetKinds[by];
  const update = (fields: object): void => onChange({ ...target, ...fields } as BrowserTarget);
  return (
    <div class="field-row">
      <SelectInput
        label="Element by"
        value={by}
        problem={findProblem(`${path}.by`)}
        options={Object.entries(targetKinds).map(([kind, [title]]) => [kind, title] as const)}
        onChange={(kind) => onChange(createTarget(kind as BrowserTarget['by'], getTargetText(target)))}
      />
      <TextInput
        label={label}
        value={String((target as unknown as SettingValues)[by] ?? '')}
        maxLength={1024}
        problem={findProblem(`${path}.${by}`)}
        onChange={(text) => update({ [by]: text })}
      />
      {target.by === 'role' ? (
        <TextInput
          label="Accessible name"
          value={target.name ?? ''}
          maxLength={1024}
          problem={findProblem(`${path}.name`)}
          onChange={(name) => update({ name: name === '' ? null : name })}
        />
      ) : null}
      {target.by === 'role' || target.by === 'label' || target.by === 'text' ? (
        <CheckInput label="Exact match" value={target.exact === true} onChange={(exact) => update({ exact })} />
      ) : null}
    </div>
  );
};

/** Operator and value of an assertion step. */
const ExpectationFields = ({
  step,
  path,
  findProblem,
  onChange,
}: {
  readonly step: BrowserStep & { readonly action: 'expect' };
  readonly path: string;
  readonly findProblem: FindProblem;
  readonly onChange: (step: BrowserStep) => void;
}) => {
  return (
    <div class="field-row">
      <label>
        Operator{' '}
        <select
          value={step.operator}
          onChange={({ currentTarget: { value: operator } }) => {
            const { value: _, ...rest } = step;
            onChange({
              ...rest,
              operator: operator as typeof step.operator,
              ...(hasNoOperand(operator) ? {} : { value: step.value ?? '' }),
            });
          }}
        >
          <Options options={Object.entries(operatorTitles)} />
        </select>
      </label>
      {hasNoOperand(step.operator) ? null : (
        <TextInput
          label="Value"
          maxLength={4096}
          value={String(step.value ?? '')}
          problem={findProblem(`${path}.value`)}
          onChange={(value) => onChange({ ...step, value })}
        />
      )}
      <label>
        On failure{' '}
        <select
          value={step.level ?? 'fail'}
          onChange={({ currentTarget }) => onChange({ ...step, level: currentTarget.value as 'fail' })}
        >
          <LevelOptions />
        </select>
      </label>
    </div>
  );
};

const isIndex = (text: string): boolean => /^\d{1,2}$/.test(text);

/** Options of a step that waits for an element. */
const ElementOptions = ({
  step,
  path,
  findProblem,
  onChange,
}: {
  readonly step: Exclude<BrowserStep, { readonly action: 'goto' }>;
  readonly path: string;
  readonly findProblem: FindProblem;
  readonly onChange: (step: BrowserStep) => void;
}) => (
  <>
    <ListInput
      label="Frames"
      hint="From the outermost: index or CSS selector"
      value={step.frame ?? []}
      problem={findProblem(`${path}.frame`)}
      parseItem={(text) => (isIndex(text) ? Number(text) : text)}
      formatItem={String}
      onChange={(frame) => onChange({ ...step, frame: [...frame] })}
    />
    {step.action === 'press' ? (
      <CheckInput
        label="On an element (otherwise the focused one)"
        value={(step.target ?? null) !== null}
        onChange={(hasTarget) => onChange({ ...step, target: hasTarget ? createTarget('label', '') : null })}
      />
    ) : null}
    {step.action === 'extract' ? (
      <CheckInput
        label="Secret (hidden in results)"
        value={step.isSecret === true}
        onChange={(isSecret) => onChange({ ...step, isSecret: isSecret ? true : null })}
      />
    ) : null}
  </>
);

const BrowserStepFields = ({
  step,
  path,
  findProblem,
  onChange,
}: {
  readonly step: BrowserStep;
  readonly path: string;
  readonly findProblem: FindProblem;
  readonly onChange: (step: BrowserStep) => void;
}) => {
  const target = 'target' in step ? (step.target ?? null) : null;
  const readsPage = 'read' in step && pageProperties.has(step.read);
  /** A property of the page has no target, and one of an element needs it. */
  const withMatchingTarget = (changed: SettingValues): BrowserStep => {
    if (!('read' in changed)) return changed as unknown as BrowserStep;
    const newTarget = pageProperties.has(changed['read']) ? null : (changed['target'] ?? createTarget('css', ''));
    return { ...changed, target: newTarget } as unknown as BrowserStep;
  };
  const inputProps = {
    value: step as unknown as SettingValues,
    path,
    findProblem,
    onChange: (changed: SettingValues) => onChange(withMatchingTarget(changed)),
  };
  return (
    <>
      <SelectInput
        label="Action"
        value={step.action}
        problem={findProblem(`${path}.action`)}
        options={Object.entries(browserActionTitles)}
        onChange={(action) => onChange(emptyBrowserSteps[action as BrowserAction])}
      />
      {target === null || readsPage ? null : (
        <TargetFields
          target={target}
          path={`${path}.target`}
          findProblem={findProblem}
          onChange={(changed) => onChange({ ...step, target: changed } as BrowserStep)}
        />
      )}
      <SettingInputs fields={browserStepFields[step.action]} {...inputProps} />
      {step.action === 'expect' ? (
        <ExpectationFields step={step} path={path} findProblem={findProblem} onChange={onChange} />
      ) : null}
      {step.action === 'goto' ? (
        <Assertions
          value={(step.assertions ?? []) as AssertionFields[]}
          type="browser"
          path={`${path}.assertions`}
          findProblem={findProblem}
          onChange={(assertions) => onChange({ ...step, assertions })}
        />
      ) : null}
      <details>
        <summary>Step options</summary>
        <div class="form">
          <SettingInputs
            {...inputProps}
            fields={step.action === 'goto' ? browserOptionFields.slice(0, 1) : browserOptionFields}
          />
          {step.action === 'goto' ? null : (
            <ElementOptions step={step} path={path} findProblem={findProblem} onChange={onChange} />
          )}
        </div>
      </details>
    </>
  );
};

export const BrowserSettingsFields = ({
  settings,
  findProblem,
  onChange,
}: {
  readonly settings: BrowserSettings;
  readonly findProblem: FindProblem;
  readonly onChange: (settings: BrowserSettings) => void;
}) => {
  const { viewport = {} } = settings;
  return (
    <>
      <StepList
        steps={settings.steps}
        newStep={emptyBrowserSteps.click as BrowserStep}
        onChange={(steps) => onChange({ ...settings, steps })}
      >
        {(step, index, onStepChange) => (
          <BrowserStepFields
            step={step}
            path={`browser.steps.${index}`}
            findProblem={findProblem}
            onChange={onStepChange}
          />
        )}
      </StepList>
      <div class="field-row">
        {(['width', 'height'] as const).map((name) => (
          <NumberInput
            key={name}
            label={`Viewport ${name} (px)`}
            value={viewport[name] ?? { width: 1280, height: 720 }[name]}
            problem={findProblem(`browser.viewport.${name}`)}
            onChange={(size) => onChange({ ...settings, viewport: { ...viewport, [name]: size ?? undefined } })}
          />
        ))}
      </div>
      <CheckInput
        label="Verify certificate"
        value={settings.verifyCertificate !== false}
        onChange={(verifyCertificate) => onChange({ ...settings, verifyCertificate })}
      />
    </>
  );
};
