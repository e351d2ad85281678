/** Buttons, and links that look like buttons. A view has one primary button; a button that deletes is of the kind danger. */
import type { ButtonHTMLAttributes, ComponentChildren } from 'preact';
import { Icon, type IconShape } from './icon.tsx';

export type ButtonKind = 'primary' | 'secondary' | 'quiet' | 'danger';

interface ButtonContent {
  readonly kind?: ButtonKind;
  readonly icon?: IconShape | undefined;
  readonly children: ComponentChildren;
}

type NativeProps = Partial<
  Pick<
    ButtonHTMLAttributes,
    'id' | 'disabled' | 'onClick' | 'aria-pressed' | 'aria-expanded' | 'aria-controls' | 'popovertarget'
  >
>;

export const Button = ({
  kind = 'secondary',
  icon,
  children,
  type = 'button',
  ...native
}: ButtonContent & NativeProps & { readonly type?: 'button' | 'submit' }) => (
  <button type={type} class={`button ${kind}`} {...native}>
    {icon === undefined ? null : <Icon shape={icon} />}
    {children}
  </button>
);

/** Button with an icon alone; its label is the tooltip and the text for screen readers. */
export const IconButton = ({
  label,
  icon,
  kind = 'quiet',
  ...native
}: NativeProps & { readonly label: string; readonly icon: IconShape; readonly kind?: ButtonKind }) => (
  <button type="button" class={`button icon-only ${kind}`} aria-label={label} data-tooltip={label} {...native}>
    <Icon shape={icon} />
  </button>
);

/** Link that looks like a button. */
export const ButtonLink = ({ url, kind = 'secondary', icon, children }: ButtonContent & { readonly url: string }) => (
  <a href={url} data-page-link class={`button ${kind}`}>
    {icon === undefined ? null : <Icon shape={icon} />}
    {children}
  </a>
);

/** Buttons of equal rank side by side. */
export const ButtonGroup = ({ label, children }: { readonly label: string; readonly children: ComponentChildren }) => (
  // biome-ignore lint/a11y/useSemanticElements: a fieldset has a layout of its own
  <div class="button-group" role="group" aria-label={label}>
    {children}
  </div>
);
