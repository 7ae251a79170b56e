// The board in a notebook, as anywidget's front end wants it: what stands on it and the traits of the kernel's widget follow each other.
const NAME = 'attention-playground', LOADING = Symbol.for(`${NAME} of notebooks`);
const WATCHED = ['q', 'k', 'v', 'weights', 'output'];
const EMBED = {hide: 'hide', lock: 'lock', parts: 'show'};

/** The element's script comes from the kernel, once for all boards of this page. */
function load(model) {
  if (customElements.get(NAME)) return Promise.resolve();
  return globalThis[LOADING] ??= new Promise((resolve, reject) => {
    const take = async ({has}, [script] = []) => {
      if (has !== 'page') return;
      model.off('msg:custom', take);
      try {
        const bytes = new Blob([script]).stream().pipeThrough(new DecompressionStream('gzip'));
        const address = URL.createObjectURL(new Blob([await new Response(bytes).arrayBuffer()], {type: 'text/javascript'}));
        await import(/* webpackIgnore: true */ address);
        URL.revokeObjectURL(address);
        resolve(customElements.whenDefined(NAME));
      } catch (error) {
        delete globalThis[LOADING];
        reject(error);
      }
    };
    model.on('msg:custom', take);
    model.send({wants: 'page'});
  });
}

/** The theme of JupyterLab, which need not be the system's. */
function themeOf(model) {
  const theme = model.get('theme'), isLight = document.body.dataset.jpThemeLight;
  return theme !== 'auto' || !isLight ? theme : isLight === 'true' ? 'light' : 'dark';
}

function begin(model, el) {
  const board = document.createElement(NAME);
  const dress = () => {
    board.style.height = `${model.get('height')}px`;
    board.setAttribute('theme', themeOf(model));
    for (const [trait, attribute] of Object.entries(EMBED)) {
      if (model.get(trait)) board.setAttribute(attribute, model.get(trait));
      else board.removeAttribute(attribute);
    }
  };
  dress();
  board.setAttribute('loading', 'eager');
  const told = [];
  const on = (event, action) => {
    model.on(event, action);
    told.push([event, action]);
  };
  for (const trait of ['height', 'theme', ...Object.keys(EMBED)]) on(`change:${trait}`, dress);
  el.append(board);
  let known = null, isAsked = false, isGone = false;

  const refuse = ({message}) => {
    model.set('error', message);
    model.save_changes();
  };
  const attempt = (action) => {
    try {
      action();
    } catch (error) {
      refuse(error);
    }
  };
  const tensors = () => Object.fromEntries(WATCHED.flatMap((name) => {
    try {
      const {data, shape} = board.getTensor(name);
      return [[name, {shape, data: new DataView(data.buffer, data.byteOffset, data.byteLength)}]];
    } catch {
      return [];  // not of this layer
    }
  }));
  /** To the kernel: at most once a frame, and only what has changed. */
  const tell = () => {
    if (isAsked) return;
    isAsked = true;
    requestAnimationFrame(() => {
      isAsked = false;
      if (isGone) return;
      known = JSON.stringify(board.getState());
      model.set('state', known);
      model.set('tensors', tensors());
      model.save_changes();
    });
  };
  const take = (undoable) => {
    const state = model.get('state');
    if (!state || state === known) return;
    known = state;
    attempt(() => board.setState(state, {undoable}));
    tell();
  };
  const takeOptions = () => {
    const options = Object.entries(model.get('options') ?? {});
    if (options.length === 0) return;
    for (const [option, value] of options) attempt(() => board.set(option, value));
    model.set('options', {});
    tell();
  };

  board.ready.then(() => {
    if (isGone) return;
    take(false);
    takeOptions();
    board.addEventListener('change', tell);
    board.addEventListener('error', ({detail}) => refuse(detail));
    on('change:state', () => take(true));
    on('change:options', takeOptions);
    tell();
  }, refuse);
  return () => {
    isGone = true;
    for (const [event, action] of told) model.off(event, action);
    board.dispose();
    board.remove();
  };
}

/** Called for every view: the same widget may be shown in several cells. */
function render({model, el}) {
  let end = null, isGone = false;
  load(model).then(() => {
    if (!isGone) end = begin(model, el);
  }, (error) => {
    el.textContent = `The Attention Playground could not be loaded from the kernel (${error.message}); please run the cell again.`;
  });
  return () => {
    isGone = true;
    end?.();
  };
}

export default {render};
