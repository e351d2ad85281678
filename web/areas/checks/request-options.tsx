/** Authentication, client certificate and extracted variables of an HTTP step */
import { CheckInput, SelectInput, TextInput } from '../../editors/inputs.tsx';
import { type FindProblem, SettingInputs, type SettingValues } from './setting-input.tsx';
import {
  type Authentication,
  authenticationFields,
  authenticationTitles,
  type ClientCertificate,
  certificateFields,
  type Extraction,
  emptyAuthentications,
  extractionSourceTitles,
} from './setting-kinds.ts';

export const AuthenticationFields = ({
  value,
  path,
  findProblem,
  onChange,
}: {
  readonly value: Authentication | null;
  readonly path: string;
  readonly findProblem: FindProblem;
  readonly onChange: (authentication: Authentication | null) => void;
}) => (
  <>
    <SelectInput
      label="Authentication"
      value={value?.type ?? ''}
      problem={value === null ? findProblem(path) : undefined}
      options={[['', 'None'], ...Object.entries(authenticationTitles)]}
      onChange={(type) => onChange(type === '' ? null : emptyAuthentications[type as Authentication['type']])}
    />
    {value === null ? null : (
      <fieldset>
        <legend>{authenticationTitles[value.type]}</legend>
        <SettingInputs
          fields={authenticationFields[value.type]}
          value={value as SettingValues}
          path={path}
          findProblem={findProblem}
          onChange={(changed) => onChange(changed as Authentication)}
        />
      </fieldset>
    )}
  </>
);

export const ClientCertificateFields = ({
  value,
  path,
  findProblem,
  onChange,
}: {
  readonly value: ClientCertificate | null;
  readonly path: string;
  readonly findProblem: FindProblem;
  readonly onChange: (certificate: ClientCertificate | null) => void;
}) => (
  <>
    <CheckInput
      label="Client certificate"
      value={value !== null}
      onChange={(isUsed) => onChange(isUsed ? { certificate: '', key: '' } : null)}
    />
    {value === null ? null : (
      <SettingInputs
        fields={certificateFields}
        value={value}
        path={path}
        findProblem={findProblem}
        onChange={({ certificate, key }) =>
          onChange({ certificate: String(certificate ?? ''), key: String(key ?? '') })
        }
      />
    )}
  </>
);

const pathLabels: Readonly<Record<Extraction['source'], string>> = {
  json: 'JSONPath',
  xml: 'XPath',
  header: 'Header name',
  body: 'Regular expression',
};

const emptyExtraction: Extraction = { as: '', source: 'json', path: '$.' };

/** Values of the response that later steps use as `{{values.NAME}}`. */
export const Extractions = ({
  value,
  path,
  findProblem,
  onChange,
}: {
  readonly value: readonly Extraction[];
  readonly path: string;
  readonly findProblem: FindProblem;
  readonly onChange: (extractions: Extraction[]) => void;
}) => (
  <fieldset>
    <legend>Extracted variables</legend>
    {value.map((extraction, index) => {
      const updateExtraction = (fields: Partial<Extraction>): void =>
        onChange([...value].with(index, { ...extraction, ...fields }));
      const label = `Variable ${index + 1}`;
      return (
        <fieldset key={index}>
          <legend>{label}</legend>
          <div class="field-row">
            <TextInput
              label="Name"
              value={extraction.as}
              problem={findProblem(`${path}.${index}.as`)}
              onChange={(as) => updateExtraction({ as })}
            />
            <SelectInput
              label="Source"
              value={extraction.source}
              problem={findProblem(`${path}.${index}.source`)}
              options={Object.entries(extractionSourceTitles)}
              onChange={(source) => updateExtraction({ source: source as Extraction['source'] })}
            />
            <TextInput
              label={pathLabels[extraction.source]}
              maxLength={1024}
              value={extraction.path}
              problem={findProblem(`${path}.${index}.path`)}
              onChange={(text) => updateExtraction({ path: text })}
            />
          </div>
          <div class="act">
            <CheckInput
              label="Secret (hidden in results)"
              value={extraction.isSecret === true}
              onChange={(isSecret) => updateExtraction({ isSecret: isSecret ? true : null })}
            />
            <button type="button" class="plain" onClick={() => onChange([...value].toSpliced(index, 1))}>
              Remove<span class="sr-only"> {label.toLowerCase()}</span>
            </button>
          </div>
        </fieldset>
      );
    })}
    <div>
      <button type="button" class="plain" onClick={() => onChange([...value, emptyExtraction])}>
        Add variable
      </button>
      {value.length === 0 ? null : <p class="hint">Later steps use {'{{values.NAME}}'}.</p>}
    </div>
  </fieldset>
);
