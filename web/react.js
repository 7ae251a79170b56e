// <AttentionPlayground preset="uniform" onChange={…} ref={…}/> for React 18 and 19: attributes and events as props, and the element itself
// as ref.
import {createElement, forwardRef, useEffect, useRef} from 'react';
import './element.js';

const EVENTS = {onReady: 'ready', onInput: 'input', onChange: 'change', onSelect: 'select', onError: 'error', onTrain: 'train',
  onStep: 'step', onAnswer: 'answer', onPassed: 'passed', onFit: 'fit'};

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
    if (name in EVENTS || value === undefined || value === null || value === false) continue;
    // React 18 sets props of custom elements as attributes, which cannot be lists or objects.
    if (name === 'className') attributes.class = value;
    else if (name === 'state' && typeof value === 'object') attributes.state = JSON.stringify(value);
    else if (Array.isArray(value) && name !== 'children') attributes[name] = value.join();
    else attributes[name] = value === true ? '' : value;
  }
  return createElement('attention-playground', {...attributes, ref: own});
});
