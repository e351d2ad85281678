/** Templates of a channel's messages, with a preview for two alerts */
import { useState } from 'preact/hooks';
import { Action } from '../../../client/action.ts';
import { Field } from '../../../editors/field.tsx';
import { createProblemFinder } from '../../../editors/form-state.tsx';
import { renderText } from '../../../frame/display-text.tsx';
import { ErrorMessage } from '../../../frame/freshness.tsx';
import { RawText } from '../../../lists/raw.tsx';
import { type Channel, previewTemplatesCall } from './calls.ts';

type Templates = Channel['templates'];

const templateFields = [
  ['title', 'Title', 1],
  ['text', 'Text', 4],
] as const;

export const TemplateFields = ({
  templates,
  findProblem,
  onChange,
}: {
  readonly templates: Templates;
  /** Validation errors of the channel after saving */
  readonly findProblem: (path: string) => string | undefined;
  readonly onChange: (templates: Templates) => void;
}) => {
  const [action] = useState(() => new Action(previewTemplatesCall));
  const [renderedMessage, setRenderedMessage] = useState<{ readonly title: string; readonly text: string }>();
  const error = action.error.value;
  return (
    <details>
      <summary>Custom message</summary>
      <p class="hint">
        {
          'If empty, the default message is sent. {{name}} inserts a value; {{#alerts}}…{{/alerts}} repeats for each alert.'
        }
      </p>
      {templateFields.map(([name, label, rows]) => (
        <Field key={name} label={label} problem={createProblemFinder(error)(name) ?? findProblem(`templates.${name}`)}>
          <textarea
            rows={rows}
            maxLength={16_384}
            spellcheck={false}
            value={templates[name]}
            onInput={({ currentTarget }) => onChange({ ...templates, [name]: currentTarget.value })}
          />
        </Field>
      ))}
      <button
        type="button"
        class="plain"
        disabled={action.isRunning.value}
        onClick={() => void action.run({ body: templates }).then(setRenderedMessage)}
      >
        Preview with two alerts
      </button>
      {error === undefined || error.details.length > 0 ? null : <ErrorMessage error={error} />}
      {renderedMessage === undefined ? null : (
        <div role="status">
          <b>{renderText(renderedMessage.title)}</b>
          <RawText label="Preview" text={renderedMessage.text} />
        </div>
      )}
    </details>
  );
};
