"""Ways to use the loop: workflow, ReAct, plan-and-execute, reflection. They use nothing but the public names of agentkit."""
