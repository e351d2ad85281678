/** Fields for the settings of a channel type, generated from its JSON schema in the API */

import type { CallError } from '../../../client/request.ts';
import { Field } from '../../../editors/field.tsx';
import { createProblemFinder } from '../../../editors/form-state.tsx';
import { capitalize } from '../../../frame/capitalize.ts';
import type { Channel, ChannelType } from './calls.ts';

type Settings = Channel['settings'];

interface Setting {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly maxLength?: number;
}

const listSettings = ({ settings }: ChannelType): readonly (readonly [name: string, setting: Setting])[] =>
  Object.entries((settings['properties'] ?? {}) as Readonly<Record<string, Setting>>).filter(
    ([name]) => name !== 'type',
  );

const listRequiredSettings = ({ settings }: ChannelType): readonly string[] =>
  (settings['required'] ?? []) as readonly string[];

/** Returns a label for a setting name: `Signing secret` for `signingSecret`. */
const toLabel = (name: string): string => {
  const words = name.replace(/[A-Z]/g, (character) => ` ${character.toLowerCase()}`);
  return words === 'url' ? 'URL' : capitalize(words);
};

const toInputText = (value: unknown): string => (Array.isArray(value) ? value.join(', ') : String(value ?? ''));

const secretInputProps = { type: 'password', autocomplete: 'new-password' } as const;
const plainInputProps = { type: 'text', autocomplete: 'off' } as const;

export const SettingFields = ({
  type,
  storedSettings,
  error,
}: {
  readonly type: ChannelType;
  /** Stored settings; a secret is masked, and submitting the mask preserves it */
  readonly storedSettings: Settings | undefined;
  readonly error: CallError | undefined;
}) => (
  <>
    {listSettings(type).map(([name, setting]) => {
      const problem = createProblemFinder(error)(`settings.${name}`);
      const isSecret = type.secrets.includes(name);
      const hint = setting.type === 'array' ? 'separate multiple values with commas' : setting.description;
      return (
        <Field key={name} label={toLabel(name)} problem={problem} hint={hint}>
          <input
            name={name}
            {...(isSecret ? secretInputProps : plainInputProps)}
            spellcheck={false}
            required={listRequiredSettings(type).includes(name)}
            defaultValue={toInputText(storedSettings?.[name])}
            placeholder={toInputText(setting.default)}
            maxLength={setting.type === 'array' ? 16_384 : (setting.maxLength ?? 4096)}
            aria-invalid={problem !== undefined}
          />
        </Field>
      );
    })}
  </>
);

/** Returns the settings in the form; empty fields are omitted. */
export const readSettings = (form: FormData, type: ChannelType): Settings => {
  const entries = listSettings(type).flatMap(([name, setting]): readonly [string, unknown][] => {
    const text = String(form.get(name) ?? '').trim();
    if (text === '') return [];
    return [[name, setting.type === 'array' ? text.split(/[\s,]+/).filter((part) => part !== '') : text]];
  });
  return { type: type.type, ...Object.fromEntries(entries) };
};
