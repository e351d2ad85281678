/** Editor of a channel: its name, and the settings of its type */
import { useState } from 'preact/hooks';
import { Action } from '../../../client/action.ts';
import { createProblemFinder } from '../../../editors/form-state.tsx';
import { NumberInput } from '../../../editors/inputs.tsx';
import { ActionForm } from '../../../frame/action-form.tsx';
import { ErrorMessage } from '../../../frame/freshness.tsx';
import { refresh } from '../../../frame/time-range.ts';
import { useQuery } from '../../../frame/use-query.ts';
import { type Channel, channelTypesCall, createChannelCall, replaceChannelCall } from './calls.ts';
import { readSettings, SettingFields } from './setting-fields.tsx';
import { TemplateFields } from './template-fields.tsx';

/** Edits a channel; without one, creates a new channel. */
export const ChannelEditor = ({
  channel,
  onSaved,
}: {
  readonly channel?: Channel;
  readonly onSaved: (id: string) => void;
}) => {
  const [createAction] = useState(() => new Action(createChannelCall));
  const [replaceAction] = useState(() => new Action(replaceChannelCall));
  const { response, error } = useQuery(channelTypesCall, {});
  const [chosenType, setChosenType] = useState(channel?.settings.type ?? 'webhook');
  const [templates, setTemplates] = useState(channel?.templates ?? { title: '', text: '' });
  const [maxPerMinute, setMaxPerMinute] = useState<number | null>(channel?.maxPerMinute ?? 60);
  const type = response?.items.find((channelType) => channelType.type === chosenType);
  if (response === undefined || type === undefined) return <ErrorMessage error={error} />;
  const action = channel === undefined ? createAction : replaceAction;
  const save = async (form: HTMLFormElement): Promise<void> => {
    const formData = new FormData(form);
    const channelInput = {
      name: String(formData.get('channel')).trim(),
      description: String(formData.get('description')),
      enabled: formData.has('enabled'),
      settings: readSettings(formData, type),
      templates,
      maxPerMinute: maxPerMinute ?? 0,
    };
    const savedChannel =
      channel === undefined
        ? await createAction.run({ body: channelInput })
        : await replaceAction.run({ params: { id: channel.id }, body: channelInput, ifMatch: channel.version });
    if (savedChannel === undefined) return;
    onSaved((savedChannel as unknown as Channel).id);
    refresh();
  };
  return (
    <ActionForm
      action={action}
      label={channel === undefined ? 'Create contact point' : 'Save contact point'}
      onSubmit={save}
    >
      <div class="form">
        <label>
          Type{' '}
          <select value={chosenType} onChange={({ currentTarget }) => setChosenType(currentTarget.value)}>
            {response.items.map((channelType) => (
              <option key={channelType.type} value={channelType.type}>
                {channelType.name}
              </option>
            ))}
          </select>
        </label>
        <p class="hint">{type.summary}</p>
        <label>
          Name{' '}
          <input name="channel" required={true} maxLength={256} autocomplete="off" defaultValue={channel?.name ?? ''} />
        </label>
        <label>
          Description{' '}
          <input name="description" maxLength={4096} autocomplete="off" defaultValue={channel?.description ?? ''} />
        </label>
        <SettingFields
          key={chosenType}
          type={type}
          storedSettings={channel?.settings.type === chosenType ? channel.settings : undefined}
          error={action.error.value}
        />
        <NumberInput
          label="Rate limit per minute"
          value={maxPerMinute}
          problem={createProblemFinder(action.error.value)('maxPerMinute')}
          onChange={setMaxPerMinute}
        />
        <TemplateFields
          templates={templates}
          findProblem={createProblemFinder(action.error.value)}
          onChange={setTemplates}
        />
        <label class="choice">
          <input name="enabled" type="checkbox" defaultChecked={channel?.enabled ?? true} /> Enabled
        </label>
      </div>
    </ActionForm>
  );
};
