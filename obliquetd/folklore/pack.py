"""The pack and its bibliography."""

from __future__ import annotations

from obliquetd.claims.pack import Pack, Reference

__all__ = ["PACK"]

ICML, NIPS, JMLR = (
    "International Conference on Machine Learning",
    "Advances in Neural Information Processing Systems",
    "Journal of Machine Learning Research",
)
ML = "Machine Learning"

BIBLIOGRAPHY = (
    Reference("Baird 1995", "L. Baird", 1995, "Residual algorithms: reinforcement learning with function approximation", ICML),
    Reference("Barnard 1993", "E. Barnard", 1993, "Temporal-difference methods and Markov models", "IEEE Transactions on Systems, Man, and Cybernetics 23"),
    Reference("Bertsekas and Yu 2009", "D. Bertsekas, H. Yu", 2009, "Projected equation methods for approximate solution of large linear systems", "Journal of Computational and Applied Mathematics 227"),
    Reference("Bhandari et al. 2018", "J. Bhandari, D. Russo, R. Singal", 2018, "A finite time analysis of temporal difference learning with linear function approximation", "Conference on Learning Theory"),
    Reference("Bradtke and Barto 1996", "S. Bradtke, A. Barto", 1996, "Linear least-squares algorithms for temporal difference learning", f"{ML} 22"),
    Reference("Espeholt et al. 2018", "L. Espeholt and others", 2018, "IMPALA: scalable distributed deep-RL with importance weighted actor-learner architectures", ICML),
    Reference("Ghosh and Bellemare 2020", "D. Ghosh, M. Bellemare", 2020, "Representations for stable off-policy reinforcement learning", ICML),
    Reference("Gordon 1995", "G. Gordon", 1995, "Stable function approximation in dynamic programming", ICML),
    Reference("Hackman 2012", "L. Hackman", 2012, "Faster gradient-TD algorithms", "Master's thesis, University of Alberta"),
    Reference("Hallak et al. 2016", "A. Hallak, A. Tamar, R. Munos, S. Mannor", 2016, "Generalized emphatic temporal difference learning: bias-variance analysis", "AAAI Conference on Artificial Intelligence"),
    Reference("Huo, Chen and Xie 2023", "D. Huo, Y. Chen, Q. Xie", 2023, "Bias and extrapolation in Markovian linear stochastic approximation with constant stepsizes", "ACM SIGMETRICS"),
    Reference("Kearns and Singh 2000", "M. Kearns, S. Singh", 2000, "Bias-variance error bounds for temporal difference updates", "Conference on Computational Learning Theory"),
    Reference("Kolter 2011", "J. Z. Kolter", 2011, "The fixed points of off-policy TD", NIPS),
    Reference("Manek and Kolter 2022", "G. Manek, J. Z. Kolter", 2022, "The pitfalls of regularization in off-policy TD learning", NIPS),
    Reference("Mnih et al. 2015", "V. Mnih and others", 2015, "Human-level control through deep reinforcement learning", "Nature 518"),
    Reference("Munos et al. 2016", "R. Munos, T. Stepleton, A. Harutyunyan, M. Bellemare", 2016, "Safe and efficient off-policy reinforcement learning", NIPS),
    Reference("Munos and Szepesvari 2008", "R. Munos, C. Szepesvari", 2008, "Finite-time bounds for fitted value iteration", f"{JMLR} 9"),
    Reference("Ollivier 2018", "Y. Ollivier", 2018, "Approximate temporal difference learning is a gradient descent for reversible policies", "arXiv preprint"),
    Reference("Polyak and Juditsky 1992", "B. Polyak, A. Juditsky", 1992, "Acceleration of stochastic approximation by averaging", "SIAM Journal on Control and Optimization 30"),
    Reference("Precup, Sutton and Singh 2000", "D. Precup, R. Sutton, S. Singh", 2000, "Eligibility traces for off-policy policy evaluation", ICML),
    Reference("Scherrer 2010", "B. Scherrer", 2010, "Should one compute the temporal difference fix point or minimize the Bellman residual? The unified oblique projection view", ICML),
    Reference("Sutton and Barto 2018", "R. Sutton, A. Barto", 2018, "Reinforcement learning: an introduction, second edition", "MIT Press"),
    Reference("Sutton et al. 2009", "R. Sutton, H. Maei, D. Precup, S. Bhatnagar, D. Silver, C. Szepesvari, E. Wiewiora", 2009, "Fast gradient-descent methods for temporal-difference learning with linear function approximation", ICML),
    Reference("Sutton, Mahmood and White 2016", "R. Sutton, A. Mahmood, M. White", 2016, "An emphatic approach to the problem of off-policy temporal-difference learning", f"{JMLR} 17"),
    Reference("Touati et al. 2018", "A. Touati, P.-L. Bacon, D. Precup, P. Vincent", 2018, "Convergent Tree Backup and Retrace with function approximation", ICML),
    Reference("Tsitsiklis and Van Roy 1996", "J. Tsitsiklis, B. Van Roy", 1996, "Feature-based methods for large scale dynamic programming", f"{ML} 22"),
    Reference("Tsitsiklis and Van Roy 1997", "J. Tsitsiklis, B. Van Roy", 1997, "An analysis of temporal-difference learning with function approximation", "IEEE Transactions on Automatic Control 42"),
    Reference("Van Hasselt et al. 2018", "H. van Hasselt, Y. Doron, F. Strub, M. Hessel, N. Sonnerat, J. Modayil", 2018, "Deep reinforcement learning and the deadly triad", "arXiv preprint"),
    Reference("Van Seijen et al. 2016", "H. van Seijen, A. Mahmood, P. Pilarski, M. Machado, R. Sutton", 2016, "True online temporal-difference learning", f"{JMLR} 17"),
    Reference("Williams and Baird 1993", "R. Williams, L. Baird", 1993, "Tight performance bounds on greedy policies based on imperfect value functions", "Technical report, Northeastern University"),
)  # fmt: skip

PACK = Pack(
    "folklore",
    "What is said of linear TD",
    "of the folklore",
    BIBLIOGRAPHY,
    {
        "errors": "How far the fixed points are from the values",
        "stability": "What is stable, and what is not",
        "corrected": "Learners that correct TD",
        "iterations": "Fitted iterations and target networks",
        "noise": "Samples, step sizes and noise",
    },
    told="said",
)
"""Sentences that are said of linear TD policy evaluation, each with who says it, in our words."""
