/**
 * Masks user input in the events of rrweb, in addition to what the recording page has masked. The policy decides
 * which texts are masked; input values are always masked, except with `passwords`.
 */
import { isFields } from '../../runtime/fields.ts';
import type { BrowserPrivacy } from '../../schemas/browser-privacy.ts';
import { PermanentError } from '../../schemas/errors.ts';
import { createScrubber } from './scrub.ts';

type JsonObject = Record<string, unknown>;

/** Known state of a recorded page, such as its editable nodes. Later requests of the page update it. */
export interface RecordedPage {
  /** Expected number of the next event; another number means a gap. */
  next: number;
  /** Whether all nodes are known, because the recording has no gap since its last full snapshot. */
  isComplete: boolean;
  /** The only gap, if all nodes were known without it: later events overtook those events, which may still arrive. */
  missing: { readonly first: number; readonly end: number } | undefined;
  /** Ids of editable nodes */
  readonly editableIds: Set<number>;
  readonly passwordIds: Set<number>;
}

export const createRecordedPage = (): RecordedPage => ({
  next: -1,
  isComplete: false,
  missing: undefined,
  editableIds: new Set(),
  passwordIds: new Set(),
});

const maxDepth = 1_000;
const maxEditableIds = 50_000;

const eventTypes = { fullSnapshot: 2, incremental: 3, plugin: 6 } as const;
const sources = { mutation: 0, input: 5, canvas: 9, log: 11 } as const;
const nodeTypes = { element: 2, text: 3 } as const;

/** Inputs whose value is a label of the page. */
const labelTypes = new Set(['submit', 'button', 'reset', 'image']);
const editableTags = new Set(['textarea', 'select', 'option', 'datalist']);
/** Attributes with visible texts. */
const textAttributes = new Set(['title', 'alt', 'placeholder', 'aria-label', 'aria-description', 'label']);
/** Attribute with the picture of a canvas or an image */
const pictureAttribute = 'rr_dataURL';
/** Attribute with a document as text, which is dropped. */
const documentAttribute = 'srcdoc';
/** Texts that contain no user input and must stay exact. */
const exactAttributes = new Set(['_cssText', 'class', 'd', 'id', 'style', 'type', 'viewBox']);
/** Shortest value that is searched for in the other attributes of its element. */
const minSearchedLength = 3;

/** Events are changed in place. */
const isObject = (value: unknown): value is JsonObject => isFields(value);
const toObjects = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : []);

const maskText = (text: string): string => text.replace(/[^\s*]/g, '*');

const isEditable = (attributes: JsonObject): boolean =>
  Object.entries(attributes).some(
    ([name, value]) => name.toLowerCase() === 'contenteditable' && value !== 'false' && value !== null,
  );

const isPassword = (attributes: JsonObject): boolean =>
  attributes['type'] === 'password' ||
  attributes['data-rr-is-password'] !== undefined ||
  /password|one-time-code|^cc-/.test(String(attributes['autocomplete'] ?? ''));

const privateClass = /(?:^|\s)(?:oiq|rr)-(?:mask|block)(?:\s|$)/;
/** Returns whether the page marks an element as private. The recorder may ignore this mark. */
const isPrivate = (attributes: JsonObject): boolean => privateClass.test(String(attributes['class'] ?? ''));

interface NodeContext {
  /** Whether the texts below are editable */
  readonly isEditable: boolean;
  readonly isPassword: boolean;
  /** Whether the texts below are code: scripts and styles */
  readonly isCode: boolean;
}

const outside: NodeContext = { isEditable: false, isPassword: false, isCode: false };

/** Masks the events of one page in order, in place. */
export class ReplayMasker {
  readonly #policy: BrowserPrivacy['replayMasking'];
  readonly #storesCanvases: boolean;
  readonly #storesImages: boolean;
  readonly #rewrite: (text: string, path: string) => string;
  readonly #page: RecordedPage;
  /** Number of values that the page had not masked */
  maskedValues = 0;

  constructor(privacy: BrowserPrivacy, page: RecordedPage) {
    this.#policy = privacy.replayMasking;
    this.#storesCanvases = privacy.storesCanvases;
    this.#storesImages = privacy.storesImages;
    this.#rewrite = createScrubber(privacy).rewrite;
    this.#page = page;
  }

  /** Masks an event. Returns false if the event must not be stored. */
  mask(event: JsonObject): boolean {
    const { type, data } = event;
    if (type === eventTypes.plugin) return false;
    if (!isObject(data)) return true;
    if (type === eventTypes.incremental) return this.#maskIncremental(data);
    if (type === eventTypes.fullSnapshot) {
      this.#page.isComplete = true;
      this.#page.missing = undefined;
      this.#page.editableIds.clear();
      this.#page.passwordIds.clear();
      if (isObject(data['node'])) this.#maskNode(data['node'], outside, 0);
      return true;
    }
    this.#scrubValues(data, 0);
    return true;
  }

  #maskIncremental(data: JsonObject): boolean {
    const { source } = data;
    if (source === sources.log) return false;
    if (source === sources.canvas) {
      if (this.#storesCanvases) this.#scrubValues(data, 0);
      return this.#storesCanvases;
    }
    if (source === sources.input) {
      const isMasked = this.#policy !== 'passwords' || this.#isIn(this.#page.passwordIds, data['id']);
      if (typeof data['text'] === 'string') data['text'] = this.#mask(data['text'], isMasked, 'text');
    } else if (source === sources.mutation) this.#maskMutation(data);
    return true;
  }

  #maskMutation(data: JsonObject): void {
    // Attributes first, because they determine which nodes are editable from now on.
    for (const change of toObjects(data['attributes'])) this.#maskAttributeChange(change);
    for (const added of toObjects(data['adds'])) {
      const { node, parentId } = added;
      const isBelowEditable = this.#isIn(this.#page.editableIds, parentId);
      const context = {
        ...outside,
        isEditable: isBelowEditable,
        isPassword: isBelowEditable && this.#isIn(this.#page.passwordIds, parentId),
      };
      if (isObject(node)) this.#maskNode(node, context, 0);
    }
    for (const change of toObjects(data['texts'])) {
      const isTyped = this.#isIn(this.#page.editableIds, change['id']);
      const isMasked = this.#policy === 'text' || (this.#policy === 'inputs' && isTyped);
      if (typeof change['value'] === 'string') change['value'] = this.#mask(change['value'], isMasked, 'text');
    }
  }

  #maskAttributeChange(change: JsonObject): void {
    const { attributes, id } = change;
    if (!isObject(attributes)) return;
    // The nodes below are not known, so texts are masked until the next full snapshot.
    const isNewlyPrivate = isPrivate(attributes) && !this.#page.passwordIds.has(id as number);
    if (isEditable(attributes) || isNewlyPrivate) this.#loseNodes();
    if (isPassword(attributes) && typeof id === 'number') this.#page.passwordIds.add(id);
    const isMasked = this.#policy !== 'passwords' || this.#isIn(this.#page.passwordIds, id);
    // The element may be a canvas or an image.
    if (!this.#storesCanvases || !this.#storesImages) delete attributes[pictureAttribute];
    this.#maskAttributes(attributes, isMasked, this.#isIn(this.#page.editableIds, id));
  }

  #maskNode(node: JsonObject, parent: NodeContext, depth: number): void {
    if (depth > maxDepth) throw new PermanentError('too-deep', `nodes nest deeper than ${maxDepth}`);
    const context = node['type'] === nodeTypes.element ? this.#maskElement(node, parent) : parent;
    if (context.isEditable && typeof node['id'] === 'number') this.#remember(node['id'], context.isPassword);
    if (typeof node['textContent'] === 'string' && node['isStyle'] !== true && !context.isCode) {
      const isTyped = context.isEditable && (this.#policy !== 'passwords' || context.isPassword);
      node['textContent'] = this.#mask(node['textContent'], isTyped || this.#policy === 'text', 'text');
    }
    for (const child of toObjects(node['childNodes'])) this.#maskNode(child, context, depth + 1);
  }

  #maskElement(node: JsonObject, parent: NodeContext): NodeContext {
    const tag = String(node['tagName'] ?? '').toLowerCase();
    const attributes = isObject(node['attributes']) ? node['attributes'] : {};
    const isInput = tag === 'input' && !labelTypes.has(String(attributes['type'] ?? '').toLowerCase());
    const isMarked = isPrivate(attributes);
    const isOwnField = isMarked || isInput || editableTags.has(tag) || isEditable(attributes);
    const context = {
      isEditable: parent.isEditable || isOwnField,
      isPassword: parent.isPassword || isMarked || (isOwnField && isPassword(attributes)),
      isCode: tag === 'style' || tag === 'script',
    };
    const isMasked = context.isEditable && (this.#policy !== 'passwords' || context.isPassword);
    // The selected option reveals the user's input.
    if (isMasked && tag === 'option') delete attributes['selected'];
    this.#dropPicture(tag, attributes);
    this.#maskAttributes(attributes, isMasked, context.isEditable);
    return context;
  }

  #dropPicture(tag: string, attributes: JsonObject): void {
    const isStored = tag === 'canvas' ? this.#storesCanvases : this.#storesImages;
    if (!isStored) delete attributes[pictureAttribute];
  }

  #maskAttributes(attributes: JsonObject, isMasked: boolean, isField: boolean): void {
    const { value } = attributes;
    delete attributes[documentAttribute];
    for (const [name, attribute] of Object.entries(attributes)) {
      if (typeof attribute !== 'string' || exactAttributes.has(name)) continue;
      const repeatsValue =
        typeof value === 'string' && value.length >= minSearchedLength && attribute.includes(value) && isMasked;
      const isTyped = isMasked && (name === 'value' || (isField && /value|model/i.test(name)));
      const isText = this.#policy === 'text' && (textAttributes.has(name) || name === 'value');
      attributes[name] = this.#mask(attribute, repeatsValue || isTyped || isText, name);
    }
  }

  /** Scrubs events without nodes: addresses, and custom data of the page. */
  #scrubValues(value: JsonObject | unknown[], depth: number): void {
    if (depth > maxDepth) throw new PermanentError('too-deep', `values nest deeper than ${maxDepth}`);
    for (const [name, entry] of Object.entries(value)) {
      const target = value as JsonObject;
      if (typeof entry === 'string') target[name] = this.#rewrite(entry, name);
      else if (typeof entry === 'object' && entry !== null) this.#scrubValues(entry as JsonObject, depth + 1);
    }
  }

  #mask(text: string, isMasked: boolean, path: string): string {
    if (!isMasked) return this.#rewrite(text, path);
    const masked = maskText(text);
    if (masked !== text) this.maskedValues++;
    return masked;
  }

  #remember(id: number, isOfPassword: boolean): void {
    const { editableIds, passwordIds } = this.#page;
    if (editableIds.size >= maxEditableIds) this.#loseNodes();
    else editableIds.add(id);
    if (isOfPassword) passwordIds.add(id);
  }

  /** Nodes are unknown until the next full snapshot. */
  #loseNodes(): void {
    this.#page.isComplete = false;
    this.#page.missing = undefined;
  }

  /** Returns whether a node is in a set. Unknown nodes count as members. */
  #isIn(ids: ReadonlySet<number>, id: unknown): boolean {
    return !this.#page.isComplete || ids.has(id as number);
  }
}
