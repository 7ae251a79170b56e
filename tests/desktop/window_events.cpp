// Sends X11 messages to a window that xdotool cannot send.
//   window_events close WINDOW-ID       asks the window to close, like the close button of its frame
//   window_events drop WINDOW-ID FILE   drops a file on the window, like a file manager (the source's side of XDND, version 5);
//                                       exit status 0 if the window reports that it accepted the file
#include <X11/Xatom.h>
#include <X11/Xlib.h>
#include <poll.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

class Source {
 public:
  Source(Display* display, Window target, std::string list)
      : display_(display),
        target_(target),
        list_(std::move(list)),
        self_(makeWindow()) {
    XSetSelectionOwner(display_, atom("XdndSelection"), self_, CurrentTime);
  }

  bool drop() {
    send("XdndEnter", 5l << 24, static_cast<long>(atom("text/uri-list")), 0, 0);
    send("XdndPosition", 0, (40l << 16) | 40, CurrentTime, static_cast<long>(atom("XdndActionCopy")));
    if (!waitFor("XdndStatus")) return false;
    send("XdndDrop", 0, CurrentTime, 0, 0);
    return waitFor("XdndFinished");
  }

 private:
  Atom atom(const char* name) const { return XInternAtom(display_, name, False); }
  Window makeWindow() const {
    return XCreateSimpleWindow(display_, DefaultRootWindow(display_), -10, -10, 1, 1, 0, 0, 0);
  }

  void send(const char* type, long a, long b, long c, long d) const {
    XEvent event{};
    event.xclient.type = ClientMessage;
    event.xclient.display = display_;
    event.xclient.window = target_;
    event.xclient.message_type = atom(type);
    event.xclient.format = 32;
    event.xclient.data.l[0] = static_cast<long>(self_);
    event.xclient.data.l[1] = a, event.xclient.data.l[2] = b, event.xclient.data.l[3] = c,
    event.xclient.data.l[4] = d;
    XSendEvent(display_, target_, False, NoEventMask, &event);
    XFlush(display_);
  }

  void answer(const XSelectionRequestEvent& request) const {
    XChangeProperty(display_, request.requestor, request.property, request.target, 8, PropModeReplace,
                    reinterpret_cast<const unsigned char*>(list_.data()), static_cast<int>(list_.size()));
    XEvent event{};
    event.xselection.type = SelectionNotify;
    event.xselection.requestor = request.requestor;
    event.xselection.selection = request.selection;
    event.xselection.target = request.target;
    event.xselection.property = request.property;
    event.xselection.time = request.time;
    XSendEvent(display_, request.requestor, False, NoEventMask, &event);
    XFlush(display_);
  }

  bool waitFor(const char* type) const {
    constexpr int kMostMs = 5000;
    const Atom wanted = atom(type);
    pollfd socket{ConnectionNumber(display_), POLLIN, 0};
    while (XPending(display_) > 0 || poll(&socket, 1, kMostMs) > 0) {
      XEvent event;
      XNextEvent(display_, &event);
      if (event.type == SelectionRequest) answer(event.xselectionrequest);
      if (event.type == ClientMessage && event.xclient.message_type == wanted) return true;
    }
    return false;
  }

  Display* display_;
  Window target_;
  std::string list_;
  Window self_;
};

void askToClose(Display* display, Window window) {
  XEvent event{};
  event.xclient.type = ClientMessage;
  event.xclient.display = display;
  event.xclient.window = window;
  event.xclient.message_type = XInternAtom(display, "WM_PROTOCOLS", False);
  event.xclient.format = 32;
  event.xclient.data.l[0] = static_cast<long>(XInternAtom(display, "WM_DELETE_WINDOW", False));
  XSendEvent(display, window, False, NoEventMask, &event);
  XFlush(display);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 2 ? argv[1] : "";
  Display* display = XOpenDisplay(nullptr);
  if (display == nullptr || !((what == "drop" && argc == 4) || (what == "close" && argc == 3)))
    return std::fprintf(stderr, "usage: window_events close WINDOW-ID | drop WINDOW-ID FILE, on a display\n"),
           2;
  const Window window = std::strtoul(argv[2], nullptr, 0);
  bool done = true;
  if (what == "close") askToClose(display, window);
  else done = Source(display, window, std::string("file://") + argv[3] + "\r\n").drop();
  XCloseDisplay(display);
  return done ? 0 : 1;
}
