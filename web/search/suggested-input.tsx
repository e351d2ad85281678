/** Text field with suggestions below it: for a search, a name, or a list of names */
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { renderText } from '../frame/display-text.tsx';
import type { InputFormat } from './completion.ts';
import { type Suggest, type SuggestionList, useSuggestions } from './suggestions.ts';

const Options = ({
  suggestionList: { items, input },
  id,
  activeIndex,
  onSelect,
}: {
  readonly id: string;
  readonly suggestionList: SuggestionList;
  readonly activeIndex: number;
  readonly onSelect: (text: string) => void;
}) => (
  <div role="listbox" id={`${id}-options`} class="options" aria-label={input.kind === 'name' ? 'Fields' : 'Values'}>
    {items.map(({ text, note }, index) => (
      <div
        key={text}
        id={`${id}-option-${index}`}
        role="option"
        tabIndex={-1}
        aria-selected={index === activeIndex}
        // Prevents the input from losing the focus.
        onPointerDown={(event) => {
          event.preventDefault();
          onSelect(text);
        }}
      >
        <bdi>{text === '' ? '(empty)' : renderText(text)}</bdi>
        {note === undefined ? null : <span class="soft">{note}</span>}
      </div>
    ))}
  </div>
);

interface SuggestedInputProps {
  readonly id?: string;
  /** Name of the field in its form */
  readonly name?: string;
  /** Accessible name, if no label names the field by its id */
  readonly label?: string;
  readonly value: string;
  readonly format: InputFormat;
  readonly suggest: Suggest;
  readonly placeholder?: string;
  readonly maxLength?: number;
  /** Whether the shortcut for the search of the view applies to this field */
  readonly isSearch?: boolean;
  readonly isInvalid?: boolean;
  readonly describedBy?: string;
  readonly onChange?: (text: string) => void;
  readonly onCommit?: (text: string) => void;
}

/**
 * `onChange` has the typed text; `onCommit` has it when the field loses the focus, on Enter, or when a suggestion is
 * selected.
 */
export const SuggestedInput = ({
  id: givenId,
  name,
  label,
  value,
  format,
  suggest,
  placeholder = '',
  maxLength = 1024,
  isSearch = false,
  isInvalid = false,
  describedBy,
  onChange,
  onCommit,
}: SuggestedInputProps) => {
  const generatedId = useId();
  const id = givenId ?? generatedId;
  const field = useRef<HTMLInputElement>(null);
  const { suggested, active, open, close, handleKeyDown } = useSuggestions(format, suggest);
  // The field keeps what is typed, also while the value is a parsed form of it. A later effect could undo typed text.
  useLayoutEffect(() => {
    if (field.current !== null && field.current.value !== value) field.current.value = value;
  }, [value]);
  const openAtCaret = (): void => {
    const { current } = field;
    if (current !== null) open(current.value, current.selectionStart ?? current.value.length);
  };
  const select = (text: string): void => {
    if (suggested === undefined || field.current === null) return;
    const { text: newText, caret } = format.insert(field.current.value, suggested.input, text);
    field.current.value = newText;
    field.current.setSelectionRange(caret, caret);
    onChange?.(newText);
    onCommit?.(newText);
    if (format.isSequence) open(newText, caret);
    else close();
  };
  return (
    <div class="combobox">
      <input
        ref={field}
        id={id}
        name={name}
        type="text"
        role="combobox"
        defaultValue={value}
        maxLength={maxLength}
        placeholder={placeholder}
        autocomplete="off"
        spellcheck={false}
        aria-label={label}
        aria-autocomplete="list"
        aria-expanded={suggested !== undefined}
        aria-controls={suggested === undefined ? undefined : `${id}-options`}
        aria-activedescendant={active < 0 ? undefined : `${id}-option-${active}`}
        aria-invalid={isInvalid}
        aria-describedby={describedBy}
        data-search={isSearch ? true : undefined}
        onInput={({ currentTarget }) => {
          onChange?.(currentTarget.value);
          openAtCaret();
        }}
        onChange={({ currentTarget }) => onCommit?.(currentTarget.value)}
        onKeyDown={(event) => handleKeyDown(event, select, openAtCaret)}
        onBlur={close}
      />
      {suggested === undefined ? null : (
        <Options id={id} suggestionList={suggested} activeIndex={active} onSelect={select} />
      )}
    </div>
  );
};

/** A field with its label */
export const SuggestedField = ({ label, ...input }: SuggestedInputProps & { readonly label: string }) => (
  // biome-ignore lint/a11y/noLabelWithoutControl: the field is in the component
  <label>
    {label} <SuggestedInput {...input} label={label} />
  </label>
);
