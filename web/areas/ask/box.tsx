/** Input field of a question, with its errors */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { setParams } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';

/** Form that stores the submitted question in the URL. */
export const QuestionForm = ({
  label,
  placeholder,
  question,
  problem,
  children,
}: {
  readonly label: string;
  readonly placeholder: string;
  readonly question: string;
  readonly problem: string | undefined;
  /** Rendered after the button. */
  readonly children?: ComponentChildren;
}) => {
  const [typedQuestion, setTypedQuestion] = useState(question);
  return (
    <form
      class="search"
      onSubmit={(event) => {
        event.preventDefault();
        setParams({ q: typedQuestion.trim() });
      }}
    >
      <label for="question">{label}</label>
      <input
        id="question"
        data-search
        value={typedQuestion}
        maxLength={16_384}
        autocomplete="off"
        placeholder={placeholder}
        aria-invalid={problem !== undefined}
        aria-describedby="question-problem"
        onInput={({ currentTarget }) => setTypedQuestion(currentTarget.value)}
      />
      <button type="submit">Ask</button>
      {children}
      <p class="problem-text" id="question-problem" role="alert">
        {problem === undefined ? '' : renderText(problem)}
      </p>
    </form>
  );
};
