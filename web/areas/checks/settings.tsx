/** Settings of a check, by its type */
import { useState } from 'preact/hooks';
import { CheckInput, JsonInput } from '../../editors/inputs.tsx';
import { Assertions } from './assertions.tsx';
import { BrowserSettingsFields } from './browser-steps.tsx';
import { AuthenticationFields, ClientCertificateFields, Extractions } from './request-options.tsx';
import { type FindProblem, SettingInputs, type SettingValues } from './setting-input.tsx';
import {
  type AssertionFields,
  type CheckDraft,
  emptyStep,
  requestFields,
  requestOptionFields,
  type Step,
  settingFieldsByType,
} from './setting-kinds.ts';
import { StepList } from './step-list.tsx';

type HttpSettings = NonNullable<CheckDraft['http']>;

const HttpStepFields = ({
  step,
  path,
  findProblem,
  onChange,
}: {
  readonly step: Step;
  readonly path: string;
  readonly findProblem: FindProblem;
  readonly onChange: (step: Step) => void;
}) => {
  const updateStep = (fields: Partial<Step>): void => onChange({ ...step, ...fields });
  const inputProps = {
    value: step as unknown as SettingValues,
    path,
    findProblem,
    onChange: (changed: SettingValues) => onChange(changed as unknown as Step),
  };
  const hasOptions =
    requestOptionFields.some(({ name }) => findProblem(`${path}.${name}`) !== undefined) ||
    findProblem(`${path}.clientCertificate`) !== undefined ||
    Object.keys(step.headers ?? {}).length > 0 ||
    (step.body ?? null) !== null ||
    (step.clientCertificate ?? null) !== null;
  return (
    <>
      <div class="field-row request-line">
        <SettingInputs fields={requestFields} {...inputProps} />
      </div>
      <details open={hasOptions}>
        <summary>Request options</summary>
        <div class="form">
          <SettingInputs fields={requestOptionFields} {...inputProps} />
          <ClientCertificateFields
            value={step.clientCertificate ?? null}
            path={`${path}.clientCertificate`}
            findProblem={findProblem}
            onChange={(clientCertificate) => updateStep({ clientCertificate })}
          />
        </div>
      </details>
      <AuthenticationFields
        value={step.authentication ?? null}
        path={`${path}.authentication`}
        findProblem={findProblem}
        onChange={(authentication) => updateStep({ authentication })}
      />
      <Assertions
        value={(step.assertions ?? []) as AssertionFields[]}
        type="http"
        path={`${path}.assertions`}
        findProblem={findProblem}
        onChange={(assertions) => updateStep({ assertions })}
      />
      <Extractions
        value={step.extract ?? []}
        path={`${path}.extract`}
        findProblem={findProblem}
        onChange={(extract) => updateStep({ extract })}
      />
    </>
  );
};

const HttpSettingsFields = ({
  settings,
  findProblem,
  onChange,
}: {
  readonly settings: HttpSettings;
  readonly findProblem: FindProblem;
  readonly onChange: (settings: HttpSettings) => void;
}) => (
  <>
    <StepList steps={settings.steps} newStep={emptyStep} onChange={(steps) => onChange({ ...settings, steps })}>
      {(step, index, onStepChange) => (
        <HttpStepFields step={step} path={`http.steps.${index}`} findProblem={findProblem} onChange={onStepChange} />
      )}
    </StepList>
    <CheckInput
      label="Store cookies, and send them with later requests"
      value={settings.storeCookies !== false}
      onChange={(storeCookies) => onChange({ ...settings, storeCookies })}
    />
  </>
);

const FormSettings = ({
  check,
  findProblem,
  onChange,
}: {
  readonly check: CheckDraft;
  readonly findProblem: FindProblem;
  readonly onChange: (settings: unknown) => void;
}) => {
  const { type } = check;
  if (type === 'http')
    return <HttpSettingsFields settings={check.http ?? { steps: [] }} findProblem={findProblem} onChange={onChange} />;
  if (type === 'browser')
    return (
      <BrowserSettingsFields settings={check.browser ?? { steps: [] }} findProblem={findProblem} onChange={onChange} />
    );
  const settings = (check[type] ?? {}) as SettingValues;
  return (
    <>
      <SettingInputs
        fields={settingFieldsByType[type]}
        value={settings}
        path={type}
        findProblem={findProblem}
        onChange={onChange}
      />
      <Assertions
        value={(settings['assertions'] ?? []) as AssertionFields[]}
        type={type}
        path={`${type}.assertions`}
        findProblem={findProblem}
        onChange={(assertions) => onChange({ ...settings, assertions })}
      />
    </>
  );
};

/** Form of the settings of the type, and their JSON as an advanced view. */
export const TypedSettings = ({
  check,
  findProblem,
  onChange,
}: {
  readonly check: CheckDraft;
  readonly findProblem: FindProblem;
  readonly onChange: (fields: Partial<CheckDraft>) => void;
}) => {
  const { type } = check;
  const [isJson, setIsJson] = useState(false);
  const settings: unknown = check[type];
  const updateSettings = (changed: unknown): void => onChange({ [type]: changed } as Partial<CheckDraft>);
  const isValid = typeof settings === 'object' && settings !== null;
  return (
    <>
      {isJson ? (
        <JsonInput label="Settings" rows={20} value={settings} problem={findProblem(type)} onChange={updateSettings} />
      ) : (
        <FormSettings check={check} findProblem={findProblem} onChange={updateSettings} />
      )}
      <div>
        <button type="button" class="plain" disabled={isJson && !isValid} onClick={() => setIsJson(!isJson)}>
          {isJson ? 'Edit as form' : 'Edit as JSON'}
        </button>
      </div>
    </>
  );
};
