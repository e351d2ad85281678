/** Tooltips of all elements with `data-tooltip`. One element above the page shows the text of the hovered or focused one. */
import { useEffect, useRef } from 'preact/hooks';

const delayMs = 300;
const gap = 6;
const margin = 4;

const place = (tooltip: HTMLElement, target: Element): void => {
  const box = target.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = tooltip;
  const isBelow = box.bottom + gap + height < innerHeight;
  const left = Math.max(margin, Math.min(innerWidth - width - margin, box.left + box.width / 2 - width / 2));
  tooltip.style.left = `${left}px`;
  tooltip.style.top = `${isBelow ? box.bottom + gap : box.top - gap - height}px`;
};

/** Rendered once per page. */
export const TooltipLayer = () => {
  const layer = useRef<HTMLDivElement>(null);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const hide = (): void => {
      clearTimeout(timer);
      if (layer.current?.matches(':popover-open') === true) layer.current.hidePopover();
    };
    const show = (target: Element): void => {
      const tooltip = layer.current;
      const text = target.getAttribute('data-tooltip') ?? '';
      if (tooltip === null || text === '' || !target.isConnected) return;
      tooltip.textContent = text;
      tooltip.showPopover();
      place(tooltip, target);
    };
    const onEnter = ({ type, target }: Event): void => {
      hide();
      const element = target instanceof Element ? target.closest('[data-tooltip]') : null;
      if (element === null || (type === 'focusin' && !element.matches(':focus-visible'))) return;
      timer = setTimeout(() => show(element), delayMs);
    };
    const hidingEvents = ['pointerdown', 'focusout', 'keydown', 'scroll'] as const;
    addEventListener('pointerover', onEnter);
    addEventListener('focusin', onEnter);
    for (const name of hidingEvents) addEventListener(name, hide, true);
    return () => {
      hide();
      removeEventListener('pointerover', onEnter);
      removeEventListener('focusin', onEnter);
      for (const name of hidingEvents) removeEventListener(name, hide, true);
    };
  }, []);
  // The elements carry the text as their label, so screen readers need no second one.
  return <div ref={layer} popover="manual" class="tooltip" aria-hidden="true" />;
};
