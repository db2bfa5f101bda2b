// Brings a view what Python has chosen. It is a component of its own, so that the view's data do not travel again when
// only the choice changes.

/** @import { Component } from "./meet.js" */
import { meetingOf } from "./meet.js";

/** @param {Component} component */
export default function ({ data }) {
  const meeting = meetingOf(data.view);
  meeting.selection = data;
  meeting.view?.select(data);
}
