/** Form to add a custom event, such as the start of a campaign or a feature flag change */
import { useState } from 'preact/hooks';
import { Action } from '../../client/action.ts';
import { MultilineInput, PairsInput, SelectInput, TextInput } from '../../editors/inputs.tsx';
import { setParams } from '../../frame/address.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { projectId } from '../../frame/project.ts';
import { refresh } from '../../frame/time-range.ts';
import { addEventCall, type EventInput, severities, type TimelineEvent } from './calls.ts';

const textFields = {
  title: ['Title', ''],
  service: ['Service', 'Default: no service'],
  environment: ['Environment', ''],
  link: ['Link', 'https://…, with more details'],
  time: ['Time', 'Such as now-10m or 2026-03-23T09:00:00Z; default: now'],
} as const;

export const EventForm = () => {
  const [action] = useState(() => new Action(addEventCall));
  const [textValues, setTextValues] = useState<Readonly<Record<keyof typeof textFields, string>>>({
    title: '',
    service: '',
    environment: '',
    link: '',
    time: '',
  });
  const [text, setText] = useState('');
  const [tags, setTags] = useState<Readonly<Record<string, string>>>({});
  const [severity, setSeverity] = useState<TimelineEvent['severity']>('info');
  const error = action.error.value;
  const addEvent = async (): Promise<void> => {
    const { time, ...fields } = textValues;
    const body: EventInput = {
      ...fields,
      text,
      severity,
      tags,
      projectId: projectId.peek(),
      ...(time === '' ? {} : { time }),
    };
    if ((await action.run({ body })) === undefined) return;
    setParams({ open: '' });
    // Queries return a new event after one to two seconds.
    setTimeout(refresh, 2_000);
  };
  return (
    <div class="form">
      {Object.entries(textFields).map(([name, [label, hint]]) => (
        <TextInput
          key={name}
          label={label}
          maxLength={2048}
          value={textValues[name as keyof typeof textFields]}
          problem={error?.at(name)}
          {...(hint === '' ? {} : { hint })}
          onChange={(value) => setTextValues((currentValues) => ({ ...currentValues, [name]: value }))}
        />
      ))}
      <MultilineInput label="Text" value={text} problem={error?.at('text')} onChange={setText} />
      <PairsInput label="Tags" value={tags} problem={error?.at('tags')} onChange={setTags} />
      <SelectInput
        label="Severity"
        value={severity}
        problem={error?.at('severity')}
        options={severities.map((severityName) => [severityName, severityName])}
        onChange={(newSeverity) =>
          setSeverity(severities.find((severityName) => severityName === newSeverity) ?? 'info')
        }
      />
      <div class="act">
        <button type="button" disabled={action.isRunning.value} onClick={() => void addEvent()}>
          Save event
        </button>
        <ErrorMessage error={error} />
      </div>
    </div>
  );
};
