// <AttentionPlayground preset="uniform" onChange={…} ref={…}/> for React 18 and 19: attributes and events as props, and the element itself
// as ref.
import {createElement, forwardRef, useEffect, useRef, version} from 'react';
import './package.js';

const EVENTS = {onReady: 'ready', onInput: 'input', onChange: 'change', onSelect: 'select', onError: 'error', onTrain: 'train',
  onStep: 'step', onAnswer: 'answer', onPassed: 'passed', onFit: 'fit'};

const SETS_PROPERTIES = Number.parseInt(version) >= 19, ENUMERATED = /^(aria-|data-|spellCheck$|contentEditable$)/;

/** A value as React sets it on a custom element: React 18 as an attribute, which for a boolean would be the text "true" or "false"; React 19 as
 * the property of that name, or as an attribute if there is none. */
function valueOf(name, value) {
  if (Array.isArray(value) && name !== 'children') return value.join();
  if (typeof value !== 'boolean' || name === 'draggable') return value;
  if (ENUMERATED.test(name)) return String(value);
  return SETS_PROPERTIES ? value : value ? '' : undefined;
}

export const AttentionPlayground = forwardRef(function AttentionPlayground(props, ref) {
  const element = useRef(null), latest = useRef(props);
  latest.current = props;
  useEffect(() => {
    const ends = new AbortController();
    for (const [prop, type] of Object.entries(EVENTS)) {
      element.current.addEventListener(type, (event) => latest.current[prop]?.(event), {signal: ends.signal});
    }
    return () => ends.abort();
  }, []);
  const own = (node) => {
    element.current = node;
    if (typeof ref === 'function') ref(node);
    else if (ref) ref.current = node;
  };
  const attributes = {};
  for (const [name, value] of Object.entries(props)) {
    if (name in EVENTS || value === undefined || value === null) continue;
    if (name === 'className') attributes.class = value;
    else if (name === 'state' && typeof value === 'object') attributes.state = JSON.stringify(value);
    else attributes[name] = valueOf(name, value);
  }
  return createElement('attention-playground', {...attributes, ref: own});
});
