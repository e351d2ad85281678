/**
 * PromQL editor: CodeMirror with the language package of Prometheus. It is in a shadow root, because the policy of the
 * page refuses the style elements that CodeMirror inserts into a document.
 */
import {
  acceptCompletion,
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  closeCompletion,
  completionKeymap,
  selectedCompletion,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, insertNewlineAndIndent } from '@codemirror/commands';
import { bracketMatching, HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { Annotation, Compartment, EditorState, Prec } from '@codemirror/state';
import { EditorView, highlightSpecialChars, keymap, placeholder } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { type CompleteStrategy, newCompleteStrategy, PromQLExtension } from '@prometheus-io/codemirror-promql';
import { markHiddenCharacters } from '../frame/hidden-characters.ts';
import { completionClient } from './promql-completion.ts';

export interface PromqlEditorOptions {
  readonly id: string | undefined;
  /** Accessible name */
  readonly label: string;
  readonly text: string;
  readonly placeholder: string;
  readonly isInvalid: boolean;
  readonly onChange: (text: string) => void;
  /** Runs the query. Without it, Enter inserts a line break. */
  readonly onRun: ((text: string) => void) | undefined;
}

const maxLength = 16_384;

/** Marks changes that the form makes */
const isFromForm = Annotation.define<boolean>();

const theme = EditorView.theme({
  '&': {
    minHeight: 'var(--control)',
    border: '1px solid var(--border-strong)',
    borderRadius: 'var(--radius-small)',
    background: 'var(--surface)',
    color: 'var(--text)',
    font: 'var(--text-code)',
  },
  '&.cm-focused': { outline: '2px solid var(--focus)', outlineOffset: '-1px' },
  '&.cm-editor:has([aria-invalid=true])': { borderColor: 'var(--critical)' },
  '.cm-scroller': { font: 'inherit', maxHeight: '16rem', overflow: 'auto' },
  '.cm-content': { padding: '6px 4px', caretColor: 'var(--text)' },
  '.cm-placeholder': { color: 'var(--text-3)' },
  '&.cm-focused .cm-matchingBracket': { background: 'var(--selected)', outline: '1px solid var(--border-strong)' },
  '&.cm-focused .cm-nonmatchingBracket': { background: 'var(--critical-soft)' },
  '.cm-specialChar': { color: 'var(--critical)' },
  '.cm-tooltip': {
    zIndex: '20',
    border: '1px solid var(--border)',
    borderRadius: 'var(--radius-small)',
    background: 'var(--surface)',
    color: 'var(--text)',
    boxShadow: 'var(--shadow)',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': {
    maxWidth: 'min(90vw, 40rem)',
    maxHeight: '18rem',
    font: 'var(--text-code)',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '3px 8px' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { background: 'var(--selected)', color: 'var(--text)' },
  '.cm-completionMatchedText': { textDecoration: 'none', fontWeight: '700' },
  '.cm-completionDetail': { color: 'var(--text-2)', fontStyle: 'normal' },
  '.cm-completionInfo': { maxWidth: '20rem', padding: '6px 8px', font: 'var(--text-sm)' },
  '.cm-diagnostic': { padding: '4px 8px', font: 'var(--text-sm)' },
  '.cm-diagnostic-error': { borderLeft: '3px solid var(--critical)' },
  '.cm-lintRange-error': {
    backgroundImage: 'none',
    textDecoration: 'underline wavy var(--critical)',
    textUnderlineOffset: '3px',
  },
});

const highlighting = HighlightStyle.define([
  { tag: tags.string, color: 'var(--ok)' },
  { tag: tags.number, color: 'var(--warning)' },
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], color: 'var(--accent-text)' },
  { tag: [tags.function(tags.variableName), tags.standard(tags.variableName)], color: 'var(--info)' },
  { tag: tags.labelName, color: 'var(--fatal)' },
  { tag: tags.comment, color: 'var(--text-3)' },
]);

const promqlCompletion = newCompleteStrategy({ remote: completionClient });

/**
 * Suggestions in which hidden characters of names and values are marked. After a complete part of an expression they
 * open on request only, so that Enter runs the query.
 */
const completion: CompleteStrategy = {
  async promQL(context) {
    if (!context.explicit && context.matchBefore(/[)\]}\s]/) !== null) return null;
    const result = await promqlCompletion.promQL(context);
    if (result === null) return null;
    const options = result.options.map((option) => {
      const marked = markHiddenCharacters(option.label);
      return marked === option.label ? option : { ...option, displayLabel: marked };
    });
    return { ...result, options };
  },
};

const createLanguage = () => {
  const promql = new PromQLExtension().setComplete({ completeStrategy: completion });
  const lint = promql.getLinter();
  return promql
    .setLinter({
      // Dashboard variables such as $job are replaced before an expression is parsed.
      promQL: () => (view) => (view.state.doc.toString().includes('$') ? [] : lint.promQL.call(lint)(view)),
    })
    .asExtension();
};

const leave = (view: EditorView): boolean => {
  view.contentDOM.blur();
  return true;
};

/** Returns whether the selected suggestion is already typed. */
const isSuggestionTyped = ({ state }: EditorView): boolean => {
  const suggestion = selectedCompletion(state);
  const { head } = state.selection.main;
  return suggestion !== null && state.sliceDoc(head - suggestion.label.length, head) === suggestion.label;
};

/** Returns what is selected in the editor, which the selection of the document does not show in each browser. */
const readSelectedRange = ({ root, contentDOM }: EditorView): Range | undefined => {
  const { getSelection } = root as Document;
  const selection = getSelection === undefined ? document.getSelection() : getSelection.call(root);
  const range = selection === null || selection.rangeCount === 0 ? undefined : selection.getRangeAt(0);
  return range !== undefined && contentDOM.contains(range.commonAncestorContainer) ? range : undefined;
};

/**
 * Replaces a selection by typed text. Otherwise the browser would do so, with the style of the replaced text as a style
 * attribute, which the policy of the page refuses.
 */
const replaceSelection = (event: InputEvent, view: EditorView): boolean => {
  const range = readSelectedRange(view);
  const { data: insert } = event;
  if (event.inputType !== 'insertText' || insert === null || event.isComposing || range?.collapsed !== false)
    return false;
  event.preventDefault();
  const from = view.posAtDOM(range.startContainer, range.startOffset);
  const to = view.posAtDOM(range.endContainer, range.endOffset);
  const createTransaction = () =>
    view.state.update({
      changes: { from, to, insert },
      selection: { anchor: from + insert.length },
      userEvent: 'input.type',
      scrollIntoView: true,
    });
  const handlers = view.state.facet(EditorView.inputHandler);
  if (!handlers.some((handle) => handle(view, from, to, insert, createTransaction))) view.dispatch(createTransaction());
  return true;
};

export class PromqlEditor {
  readonly #view: EditorView;
  readonly #attributes = new Compartment();
  #options: PromqlEditorOptions;

  /** Renders the editor into a shadow root of an element. */
  constructor(host: HTMLElement, options: PromqlEditorOptions) {
    this.#options = options;
    const run = (view: EditorView): boolean => {
      this.#options.onRun?.(view.state.doc.toString());
      return this.#options.onRun !== undefined;
    };
    const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
    this.#view = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: options.text,
        extensions: [
          // The keys of suggestions have precedence, so Enter and Escape first apply to these.
          Prec.highest(
            keymap.of([
              { key: 'Enter', run: (view) => isSuggestionTyped(view) && closeCompletion(view) && run(view) },
              ...completionKeymap,
              { key: 'Tab', run: acceptCompletion },
            ]),
          ),
          keymap.of([
            { key: 'Mod-Enter', run },
            { key: 'Enter', run: (view) => run(view) || insertNewlineAndIndent(view) },
            { key: 'Shift-Enter', run: insertNewlineAndIndent },
            { key: 'Escape', run: leave },
            ...closeBracketsKeymap,
            ...historyKeymap,
            ...defaultKeymap,
          ]),
          history(),
          closeBrackets(),
          bracketMatching(),
          highlightSpecialChars(),
          autocompletion({ icons: false, activateOnTypingDelay: 120 }),
          placeholder(options.placeholder),
          EditorView.lineWrapping,
          EditorState.changeFilter.of((transaction) => transaction.newDoc.length <= maxLength),
          EditorView.updateListener.of(({ docChanged, state, transactions }) => {
            if (docChanged && !transactions.some((transaction) => transaction.annotation(isFromForm) === true))
              this.#options.onChange(state.doc.toString());
          }),
          EditorView.domEventHandlers({
            // Keys of the editor are not shortcuts of the page.
            keydown: (event) => {
              if (!(event.key === 'k' && (event.ctrlKey || event.metaKey))) event.stopPropagation();
              return false;
            },
            beforeinput: replaceSelection,
          }),
          createLanguage(),
          syntaxHighlighting(highlighting),
          theme,
          this.#attributes.of(this.#createAttributes()),
        ],
      }),
    });
  }

  #createAttributes() {
    const { id, label, isInvalid } = this.#options;
    return EditorView.contentAttributes.of({
      'aria-label': label,
      'aria-invalid': String(isInvalid),
      autocapitalize: 'off',
      autocorrect: 'off',
      spellcheck: 'false',
      ...(id === undefined ? {} : { id }),
    });
  }

  /** Applies the current options; a text that differs from the typed one replaces it. */
  update(options: PromqlEditorOptions): void {
    const { label, isInvalid } = this.#options;
    this.#options = options;
    if (options.text !== this.#view.state.doc.toString())
      this.#view.dispatch({
        changes: { from: 0, to: this.#view.state.doc.length, insert: options.text },
        annotations: isFromForm.of(true),
      });
    if (options.label !== label || options.isInvalid !== isInvalid)
      this.#view.dispatch({ effects: this.#attributes.reconfigure(this.#createAttributes()) });
  }

  focus(caret: number): void {
    this.#view.focus();
    this.#view.dispatch({ selection: { anchor: Math.min(caret, this.#view.state.doc.length) } });
  }

  destroy(): void {
    this.#view.destroy();
  }
}
