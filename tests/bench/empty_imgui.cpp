// An empty Dear ImGui window in a page, written as in its own examples: the baseline for the time to the
// first frame.
#include <GLFW/glfw3.h>
#include <emscripten/emscripten.h>
#include <imgui.h>
#include <imgui_impl_glfw.h>
#include <imgui_impl_opengl3.h>

EM_JS(void, first_frame_is_drawn, (), { performance.mark("first-frame"); })

namespace {

void frame() {
  static bool isFirst = true;
  glfwPollEvents();
  ImGui_ImplOpenGL3_NewFrame();
  ImGui_ImplGlfw_NewFrame();
  ImGui::NewFrame();
  ImGui::Begin("Empty");
  ImGui::End();
  ImGui::Render();
  glClear(GL_COLOR_BUFFER_BIT);
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
  if (isFirst) first_frame_is_drawn();
  isFirst = false;
}

}  // namespace

int main() {
  glfwInit();
  GLFWwindow* window = glfwCreateWindow(1440, 900, "Empty", nullptr, nullptr);
  glfwMakeContextCurrent(window);
  ImGui::CreateContext();
  ImGui::GetIO().IniFilename = nullptr;
  ImGui_ImplGlfw_InitForOpenGL(window, true);
  ImGui_ImplOpenGL3_Init("#version 300 es");
  emscripten_set_main_loop(frame, 0, true);
}
