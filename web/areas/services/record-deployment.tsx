/** Form that records a deployment that was not detected automatically */
import { useState } from 'preact/hooks';
import { Action } from '../../client/action.ts';
import { TextInput } from '../../editors/inputs.tsx';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { projectId } from '../../frame/project.ts';
import { isPermitted } from '../../frame/rights.ts';
import { refresh } from '../../frame/time-range.ts';
import { recordDeploymentCall } from './calls.ts';

const textFields = {
  version: ['Version', ''],
  environment: ['Environment', ''],
  commit: ['Commit', ''],
  link: ['Link', 'https://…, such as the URL of the pipeline'],
  time: ['Time', 'Such as now-10m or 2026-03-23T09:00:00Z; default: now'],
  description: ['Changes', ''],
} as const;
type DeploymentFields = Readonly<Record<keyof typeof textFields, string>>;

const emptyFields: DeploymentFields = { version: '', environment: '', commit: '', link: '', time: '', description: '' };

export const RecordDeployment = ({ service }: { readonly service: string }) => {
  const [action] = useState(() => new Action(recordDeploymentCall));
  const [draftFields, setDraftFields] = useState(emptyFields);
  const [message, setMessage] = useState('');
  const error = action.error.value;
  if (!isPermitted(recordDeploymentCall)) return null;
  const saveDeployment = async (): Promise<void> => {
    setMessage('');
    const { time, ...fields } = draftFields;
    const body = { ...fields, service, projectId: projectId.peek(), ...(time === '' ? {} : { time }) };
    if ((await action.run({ body })) === undefined) return;
    setDraftFields(emptyFields);
    setMessage('The deployment was recorded and appears in the list within a few seconds.');
    setTimeout(refresh, 2_000);
  };
  return (
    <details>
      <summary>Record deployment</summary>
      <div class="form">
        {Object.entries(textFields).map(([name, [label, hint]]) => (
          <TextInput
            key={name}
            label={label}
            maxLength={2048}
            value={draftFields[name as keyof DeploymentFields]}
            problem={error?.at(name)}
            {...(hint === '' ? {} : { hint })}
            onChange={(value) => setDraftFields((currentFields) => ({ ...currentFields, [name]: value }))}
          />
        ))}
        <div class="act">
          <button type="button" disabled={action.isRunning.value} onClick={() => void saveDeployment()}>
            Save deployment
          </button>
          <p class="soft" role="status">
            {message}
          </p>
          <ErrorMessage error={error} />
        </div>
      </div>
    </details>
  );
};
